# %% [markdown]
# # Two hosts, one lossy link
# Each `# %%` starts a cell in editors that know notebooks as scripts (VS Code, Spyder, Jupytext); as a program it runs from top to bottom.

# %%
import random

from openstellar import hosts

# %% Two hosts on a leaf-spine of two planes; one link loses 1 % of its frames. `nic="rtl"` uses two Verilated cards instead of the reference.
world = hosts.World(nic="reference", qps=2, paths=128, loss=("p0.leaf0-spine5", 0.01), seed=1)

# %% Host memory on the one side, GPU memory on the other.
data = random.Random(1).randbytes(1 << 20)
source = world.sender.register(len(data), memory="host", page=4096)
target = world.receiver.register(len(data), memory="gpu")
source.store(data)

# %% Two writes, one per queue pair: work queue entries in host memory, and doorbells. Then simulate until both have completed.
half = len(data) // 2
first = world.sender.write(source, target, length=half, qp=world.qps[0])
second = world.sender.write(source, target, length=half, local_offset=half, remote_offset=half, qp=world.qps[1], immediate=7)
world.run()
assert target.load() == data
for completion in world.sender.completions():
    print(f"{completion.time_ps / 1e6:.2f} us: work {completion.wr_id} {completion.status}")

# %% The NICs' counters.
counters = world.sender.counters(world.qps[0])
print({name: count for name, count in counters.requester.items() if count}, "retransmissions:", counters.requester["retransmissions"])

# %% Every byte and every completion checked; captures as scapy packets, memory and series as numpy arrays.
result = world.result()
print(f"{result.report['goodput_gbps']:.1f} Gb/s; first packet: {result.packets('h0.p0')[0].summary()}")
print(target.array(0, 16), result.series("cwnd").max())

# %% Goodput, congestion window and load per path over time. A notebook displays the figure.
figure = result.plot()
