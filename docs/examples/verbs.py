# %% [markdown]
# # Verbs on Verilated cards
# The driver brings cards up and posts work requests. The cards are their Verilog, translated by Verilator. Each `# %%` starts a cell in editors that know notebooks
# as scripts (VS Code, Spyder, Jupytext); as a program it runs from top to bottom.

# %%
import random

from openstellar import verbs, world

# %% Two hosts, cabled port to port. Bring-up resets a card and writes its tables; a context is a user of the card, with a doorbell page.
pair = verbs.CardPair(captures=True)
devices = [pair.bring_up(host) for host in (0, 1)]
contexts = [device.open() for device in devices]
domains = [context.alloc_pd() for context in contexts]
queues = [context.create_cq(64) for context in contexts]
first, second = (pd.create_qp(cq) for pd, cq in zip(domains, queues, strict=True))
verbs.connect(first, second, psns=(0xFFFFFE, 7), path=verbs.Path(mtu=1024))

# %% From host memory to GPU memory, half of it with an immediate.
data = random.Random(1).randbytes(64 << 10)
source = domains[0].register(len(data), remote_write=False)
target = domains[1].register(len(data), memory="gpu", page=4096)
source.store(data)
half = len(data) // 2
first.post_write(source, target, length=half)
last = first.post_write(source, target, length=half, local_offset=half, remote_offset=half, immediate=0x57E11A12)
[arrived] = queues[1].wait()
done = []
while len(done) < 2:
    done += queues[0].wait()
assert target.load() == data and done[-1].wr_id == last
print(f"{pair.time_ns} ns: {arrived.opcode} {arrived.immediate:#x}; work requests {[(one.wr_id, one.status) for one in done]}")

# %% The card's counters, and the frames at its first port.
print(devices[1].counters(), pair.packets("h1.p0")[0].summary())

# %% [markdown]
# ## One card by itself
# Python sends frames to a `LoneCard` and receives its frames. Its configuration is the argument of `bring_up`.

# %%
card = verbs.LoneCard()
here = verbs.PortAddress("02:00:00:00:00:aa", "192.0.2.1"), verbs.PortAddress("02:00:00:00:01:aa", "198.51.100.1")
context = card.bring_up(verbs.DeviceConfig(ports=here, control_dscp=26)).open()
domain, queue = context.alloc_pd(), context.create_cq(16)
memory = domain.register(10_000)
qp = domain.create_qp(queue)
qp.init()
peer = verbs.default_ports(7)
qp.ready_to_receive(verbs.Connection(qp=0x123, psn=100, ports=peer), verbs.Path(mtu=1024))

# %% The peer's message, packets in any order.
place = {"qp": qp.number, "va": memory.address, "rkey": memory.key, "mtu": 1024}
frames = list(world.write_frames(data[:5000], psn=100, **place, source=peer[0], destination=here[0]))
random.Random(2).shuffle(frames)
for frame in frames:
    card.receive(frame)
card.run(1000)
assert memory.load(0, 5000) == data[:5000]
for frame in card.sent():
    print(f"{frame.time_ns:.0f} ns, port {frame.port}: {frame.packet().summary()}")
