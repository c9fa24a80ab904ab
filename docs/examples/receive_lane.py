# %% [markdown]
# # A multi-path WRITE through the receive lane
# Each `# %%` starts a cell in editors that know notebooks as scripts (VS Code, Spyder, Jupytext); as a program it runs from top to bottom.

# %%
import random

from openstellar import world

VA, RKEY, QP = 0x7F00_0000_0000, 0x2A5A, 100

# %% A lane of 100G with one MRC queue pair and a megabyte of GPU memory.
lane = world.Lane(width=512)
lane.add_qp(QP, mode="mrc", pd=7, mtu=4096)
lane.add_region(rkey=RKEY, va=VA, length=1 << 20, pd=7, memory="gpu")

# %% A message of several packets, each on a path of its own. They arrive in any order, one of them twice.
data = random.Random(1).randbytes(100_000)
frames = list(world.write_frames(data, qp=QP, va=VA, rkey=RKEY, srv6=True, seed=1))
random.Random(2).shuffle(frames)
for frame in [*frames, frames[0]]:
    lane.receive(frame)

# %% Simulate. This also compares every verdict, acknowledgement, TLP and byte with the software reference.
lane.run()
assert lane.read(VA, len(data)) == data
print(f"{len(frames)} packets in {lane.time_ps / 1e6:.2f} us; verdicts: {sorted(set(lane.verdicts))}")
print({reason: count for reason, count in lane.counters.items() if count})

# %% The capture as scapy packets, memory as a numpy array.
print(lane.packets()[0].summary())
print(lane.memory(VA, 16))

# %% Throughput over time, and the places of the writes. A notebook displays the figure.
figure = lane.plot(window_clocks=128)
