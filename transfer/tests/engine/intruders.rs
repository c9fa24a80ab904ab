//! Peers that are not engines and violate the protocol: they lose their link, and other links are not affected.

use stellar_transfer::*;
use stellar_wire::transfer::{ControlBlock, MessageImmediate, MessageKind};

use crate::engine::cluster::{Cluster, Setup};
use crate::engine::network::{NetMemory, NetNic};

/// The settings that the engines in a [`Cluster`] have.
const BLOCK: ControlBlock = ControlBlock {
    channels: 2,
    slots: 2,
    slot_bytes: 100,
};

/// An intruder: a NIC with an offer of engine 0.
struct Intruder {
    nic: NetNic,
    qps: Vec<<NetNic as Nic>::QueuePair>,
    memory: NetMemory,
    region: <NetNic as Nic>::Region,
    /// The memory to which engine 0 lets it write.
    control: RemoteRegion,
}

impl Intruder {
    fn new(cluster: &mut Cluster) -> Self {
        let nic = cluster.network.nic();
        let depth = QueueDepth {
            writes: 20,
            immediates: 20,
        };
        let qps: Vec<_> = (0..2).map(|_| nic.create(depth).unwrap()).collect();
        let memory = nic.allocate(BLOCK.bytes()).unwrap();
        let region = nic.register(&memory, Access::RemoteWrite).unwrap();
        let offer = serde_json::json!({
            "engine": 66,
            "channels": [nic.address(&qps[0]), nic.address(&qps[1])],
            "immediates": 4,
            "slots": BLOCK.slots,
            "slot_bytes": BLOCK.slot_bytes,
            "control": nic.remote(&region),
        });
        let offered = cluster.engines[0].offer().unwrap();
        let told = serde_json::to_value(offered.offer()).unwrap();
        let offer = serde_json::from_value(offer).unwrap();
        cluster.engines[0].connect(offered, &offer).unwrap();
        let ends: Vec<(usize, u32)> = serde_json::from_value(told["channels"].clone()).unwrap();
        for (qp, end) in qps.iter().zip(&ends) {
            nic.connect(qp, end).unwrap();
        }
        Self {
            nic,
            qps,
            memory,
            region,
            control: serde_json::from_value(told["control"].clone()).unwrap(),
        }
    }

    /// Writes to engine 0's control block.
    fn write(
        &self,
        channel: usize,
        payload: Payload<'_, <NetNic as Nic>::Region>,
        at: u64,
        immediate: Option<u32>,
    ) {
        let write = Write {
            id: 0,
            payload,
            address: self.control.address + at,
            rkey: self.control.rkey,
            immediate,
        };
        self.nic.post(&self.qps[channel], &write).unwrap();
    }

    fn message(&self, kind: MessageKind, slot: u16, tag: u32) {
        let immediate = MessageImmediate { kind, slot, tag }.to_word();
        self.write(1, Payload::Word(7), BLOCK.slot(slot), Some(immediate));
    }
}

/// The error that engine 0 reports for an intruder with this behaviour. Its honest peer is not affected.
fn judged(act: impl FnOnce(&Intruder)) -> ProtocolError {
    let mut cluster = Cluster::new(Setup::default());
    let intruder = Intruder::new(&mut cluster);
    act(&intruder);
    cluster.settle();
    let mut reason = None;
    while let Some(event) = cluster.engines[0].next_event() {
        if let Event::Lost(lost) = event {
            assert!(reason.replace(lost.reason).is_none(), "lost twice");
        }
    }
    let honest = cluster.peer(0, 1);
    cluster.engines[0].send(honest, b"here?").unwrap();
    cluster.settle();
    let heard = cluster.engines[1].next_event();
    assert!(matches!(heard, Some(Event::Message { .. })), "{heard:?}");
    match reason {
        Some(LinkError::Protocol(error)) => error,
        other => panic!("{other:?}"),
    }
}

#[test]
fn credits_that_nobody_gave() {
    for (channel, taken) in [(0, 1), (1, u64::MAX)] {
        let error = judged(|intruder| {
            let at = BLOCK.taken(channel);
            intruder.write(0, Payload::Word(taken), at, None);
        });
        let expected = ProtocolError::Taken {
            channel: channel as usize,
            taken,
            sent: 0,
            before: 0,
        };
        assert_eq!(error, expected);
    }
}

#[test]
fn messages_in_slots_that_are_not_free_or_do_not_exist() {
    let refused = |act: &dyn Fn(&Intruder)| match judged(act) {
        ProtocolError::Message { immediate, bytes } => (immediate, bytes),
        other => panic!("{other:?}"),
    };
    let undefined = 3 << 30;
    let found = refused(&|intruder| {
        intruder.write(1, Payload::Word(0), BLOCK.slot(0), Some(undefined));
    });
    assert_eq!(found, (undefined, 8));
    let found = refused(&|intruder| {
        intruder.write(1, Payload::Word(0), BLOCK.slot(1), Some(2));
    });
    assert_eq!(found, (2, 8));
    let found = refused(&|intruder| {
        intruder.message(MessageKind::Message, 1, 0);
        intruder.message(MessageKind::Message, 1, 0);
    });
    assert_eq!(found, (1, 8));
    let found = refused(&|intruder| {
        intruder.memory.write(0, &[1; 101]).unwrap();
        let long = Payload::Region {
            region: &intruder.region,
            offset: 0,
            length: 101,
        };
        intruder.write(1, long, BLOCK.slot(0), Some(0));
    });
    assert_eq!(found, (0, 101));
}

#[test]
fn answers_to_nothing_and_requests_twice() {
    let error = judged(|intruder| intruder.message(MessageKind::Response, 0, 5));
    assert_eq!(error, ProtocolError::Tag(5));
    let error = judged(|intruder| {
        intruder.message(MessageKind::Request, 0, 9);
        intruder.message(MessageKind::Request, 1, 9);
    });
    assert_eq!(error, ProtocolError::Tag(9));
}
