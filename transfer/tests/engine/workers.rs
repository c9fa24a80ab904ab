//! Engines that threads drive, connected over a stream.

use std::net::{TcpListener, TcpStream};
use std::sync::mpsc::channel;
use std::time::Duration;

use stellar_transfer::*;

use crate::engine::cluster::{bytes, pattern};
use crate::engine::network::Network;

const TIMEOUT: Duration = Duration::from_secs(60);
const BYTES: usize = 50_000;

#[test]
fn callbacks_run_on_the_workers_thread_and_may_use_the_engine() {
    let network = Network::new(11);
    let engine = |id| Engine::new(EngineConfig::new(EngineId(id)), vec![network.nic()]).unwrap();
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut receiver = engine(1);
    let other = std::thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        join(&mut receiver, &mut stream).unwrap();
        receiver
    });
    let mut sender = engine(0);
    let mut stream = TcpStream::connect(address).unwrap();
    let peer = join(&mut sender, &mut stream).unwrap();
    let receiver = other.join().unwrap();
    assert_eq!(sender.peer(EngineId(1)).unwrap(), peer);

    let source = sender.register(sender.allocate(BYTES as u64).unwrap(), Access::Local);
    let source = source.unwrap();
    source
        .memory()
        .unwrap()
        .write(0, &pattern(BYTES, 1))
        .unwrap();
    let target = receiver.register(
        receiver.allocate(BYTES as u64).unwrap(),
        Access::RemoteWrite,
    );
    let target = target.unwrap();
    // The descriptor as a peer at another host gets it.
    let text = serde_json::to_string(target.descriptor()).unwrap();
    let descriptor: RegionDescriptor = serde_json::from_str(&text).unwrap();

    let (sender, receiver) = (Worker::spawn(sender), Worker::spawn(receiver));
    let (reached, hears) = channel();
    let (done, ends) = channel();
    receiver
        .with(|engine| {
            engine.expect_with(77, 1, Senders::Anyone, move |result| {
                reached.send(result.is_ok()).unwrap();
            })
        })
        .unwrap();
    sender
        .with(|engine| {
            let transfer = Transfer::write(source.slice(0, BYTES as u64), descriptor.at(0));
            engine.submit_with(&transfer.with_immediate(77), move |result| {
                done.send((result.is_ok(), std::thread::current().id()))
                    .unwrap();
            })
        })
        .unwrap();
    assert!(hears.recv_timeout(TIMEOUT).unwrap());
    assert!(
        bytes(target.memory().unwrap()) == pattern(BYTES, 1),
        "other bytes"
    );
    let (ok, thread) = ends.recv_timeout(TIMEOUT).unwrap();
    assert!(ok && thread != std::thread::current().id());
    drop((sender, receiver));
    source.deregister().unwrap();
}
