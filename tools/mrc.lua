-- Wireshark dissector for OCP Multipath Reliable Connection (MRC) 1.0 over RoCEv2.
--
--   tshark -X lua_script:tools/mrc.lua -r capture.pcapng
--   wireshark -X lua_script:tools/mrc.lua capture.pcapng
--
-- Wireshark's own InfiniBand dissector reads the BTH and stops at opcodes it does not know. This one goes on behind the BTH:
-- METH, TSETH, RETH and ImmDt of WRITEs (opcodes C6 to CB), AETH (D1), SETH and CC_STATE (DC), NETH (DD), PETH (DE).
-- Layouts are those of `wire/src/mrc` and `wire/src/reth.rs`.

local mrc = Proto("mrc", "OCP Multipath Reliable Connection")

local opcodes = {
    [0xc6] = "WRITE First", [0xc7] = "WRITE Middle", [0xc8] = "WRITE Last", [0xc9] = "WRITE Last with Immediate",
    [0xca] = "WRITE Only", [0xcb] = "WRITE Only with Immediate", [0xd1] = "Transport ACK",
    [0xdc] = "Reliability SACK", [0xdd] = "Reliability NACK", [0xde] = "Reliability Probe",
}
local path_hints = { [0] = "none", [1] = "SKIP_ONCE", [2] = "ALWAYS_SKIP" }
local nack_reasons = {
    [1] = "TRIMMED", [2] = "TRIMMED_LASTHOP", [6] = "NO_BITMAP", [7] = "NO_PKT_BUFFER", [10] = "NO_RESOURCE",
    [11] = "PSN_OOR_WINDOW", [25] = "UNEXP_EVENT",
}

local f = {
    opcode = ProtoField.uint8("mrc.opcode", "Opcode", base.HEX, opcodes),
    rtx = ProtoField.bool("mrc.rtx", "Retransmission", 8, nil, 0x20),
    tseth_present = ProtoField.bool("mrc.tseth_present", "TSETH present", 8, nil, 0x10),
    payload_length = ProtoField.uint32("mrc.payload_length", "Payload length", base.DEC),
    icrc = ProtoField.uint32("mrc.icrc", "Invariant CRC", base.HEX),

    meth_rqmsn = ProtoField.uint16("mrc.meth.rqmsn", "Receive queue message number", base.DEC),
    meth_msn = ProtoField.uint16("mrc.meth.msn", "Message number", base.DEC),

    tseth_timestamp = ProtoField.uint16("mrc.tseth.timestamp", "Time stamp", base.DEC),
    tseth_own = ProtoField.bool("mrc.tseth.own_resolution", "Own resolution", 8, nil, 0x80),
    tseth_format = ProtoField.uint8("mrc.tseth.format", "Format", base.DEC, nil, 0x0f),

    reth_va = ProtoField.uint64("mrc.reth.va", "Virtual address", base.HEX),
    reth_rkey = ProtoField.uint32("mrc.reth.r_key", "Remote key", base.HEX),
    reth_dmalen = ProtoField.uint32("mrc.reth.dmalen", "DMA length", base.DEC),
    immdt = ProtoField.uint32("mrc.immdt", "Immediate data", base.HEX),

    aeth_syndrome = ProtoField.uint8("mrc.aeth.syndrome", "Syndrome", base.HEX),
    aeth_msn = ProtoField.uint24("mrc.aeth.msn", "Message number", base.DEC),

    seth_hint = ProtoField.uint8("mrc.seth.path_hint", "Path hint (M)", base.DEC, path_hints, 0x60),
    seth_probe = ProtoField.bool("mrc.seth.probe_response", "Probe response", 8, nil, 0x02),
    seth_offset = ProtoField.int16("mrc.seth.ack_psn_offset", "Acknowledged PSN offset", base.DEC),
    seth_entropy = ProtoField.uint32("mrc.seth.entropy", "Entropy", base.HEX),
    seth_src = ProtoField.uint16("mrc.seth.src_context", "Source context", base.DEC),
    seth_dst = ProtoField.uint16("mrc.seth.dst_context", "Destination context", base.DEC),
    seth_cack = ProtoField.uint24("mrc.seth.cack_psn", "Cumulative PSN", base.DEC),
    seth_cc_type = ProtoField.uint8("mrc.seth.cc_type", "Congestion control type", base.DEC, nil, 0xf0),
    seth_cc_flags = ProtoField.uint8("mrc.seth.cc_flags", "Congestion control flags", base.HEX, nil, 0x0f),
    seth_mpr = ProtoField.uint8("mrc.seth.mpr", "Receive window (128 packets)", base.DEC),
    seth_sack_offset = ProtoField.int16("mrc.seth.sack_offset", "Bitmap offset", base.DEC),
    seth_bitmap = ProtoField.uint64("mrc.seth.bitmap", "Bitmap", base.HEX),
    seth_acked = ProtoField.uint24("mrc.seth.acked_psn", "Acknowledged PSN", base.DEC),

    cc_timestamp = ProtoField.uint16("mrc.cc.timestamp", "Reflected time stamp", base.DEC),
    cc_ooo = ProtoField.uint16("mrc.cc.ooo_count", "Out-of-order count", base.DEC, nil, 0x7fff),
    cc_restore = ProtoField.bool("mrc.cc.restore_cwnd", "Restore window", 8, nil, 0x80),
    cc_penalty = ProtoField.uint8("mrc.cc.rcv_cwnd_pen", "Receiver's window penalty", base.DEC, nil, 0x7f),
    cc_rcvd = ProtoField.uint24("mrc.cc.rcvd_bytes", "Bytes received (256)", base.DEC),

    neth_reason = ProtoField.uint8("mrc.neth.reason", "Reason", base.DEC, nack_reasons),
    neth_vendor = ProtoField.uint8("mrc.neth.vendor_info", "Vendor information", base.HEX),
    neth_entropy = ProtoField.uint32("mrc.neth.entropy", "Entropy", base.HEX),
    neth_src = ProtoField.uint16("mrc.neth.src_context", "Source context", base.DEC),
    neth_dst = ProtoField.uint16("mrc.neth.dst_context", "Destination context", base.DEC),
    neth_psn = ProtoField.uint24("mrc.neth.nack_psn", "Refused PSN", base.DEC),
    neth_cc_type = ProtoField.uint8("mrc.neth.cc_type", "Congestion control type", base.DEC, nil, 0xf0),
    neth_cc_flags = ProtoField.uint8("mrc.neth.cc_flags", "Congestion control flags", base.HEX, nil, 0x0f),
    neth_timestamp = ProtoField.uint16("mrc.neth.timestamp", "Reflected time stamp", base.DEC),

    peth_vendor = ProtoField.uint8("mrc.peth.vendor_info", "Vendor information", base.HEX),
    peth_id = ProtoField.uint16("mrc.peth.probe_id", "Probe", base.DEC),
    peth_src = ProtoField.uint16("mrc.peth.src_context", "Source context", base.DEC),
    peth_dst = ProtoField.uint16("mrc.peth.dst_context", "Destination context", base.DEC),
}
for _, field in pairs(f) do table.insert(mrc.fields, field) end

local truncated = ProtoExpert.new("mrc.truncated", "The packet ends inside its headers", expert.group.MALFORMED, expert.severity.ERROR)
mrc.experts = { truncated }

-- What Wireshark has dissected already.
local bth_opcode = Field.new("infiniband.bth.opcode")
local bth_psn = Field.new("infiniband.bth.psn")
local udp_length = Field.new("udp.length")

local BTH, ICRC, UDP = 12, 4, 8

local function meth(t, b)
    t:add(f.meth_rqmsn, b(0, 2))
    t:add(f.meth_msn, b(2, 2))
end

local function tseth(t, b)
    t:add(f.tseth_timestamp, b(0, 2))
    t:add(f.tseth_own, b(2, 1))
    t:add(f.tseth_format, b(3, 1))
end

local function reth(t, b)
    t:add(f.reth_va, b(0, 8))
    t:add(f.reth_rkey, b(8, 4))
    t:add(f.reth_dmalen, b(12, 4))
end

local function immdt(t, b) t:add(f.immdt, b(0, 4)) end

local function aeth(t, b)
    t:add(f.aeth_syndrome, b(0, 1))
    t:add(f.aeth_msn, b(1, 3))
end

local function seth(t, b)
    t:add(f.seth_hint, b(1, 1))
    t:add(f.seth_probe, b(1, 1))
    t:add(f.seth_offset, b(2, 2))
    t:add(f.seth_entropy, b(4, 4))
    t:add(f.seth_src, b(8, 2))
    t:add(f.seth_dst, b(10, 2))
    t:add(f.seth_cack, b(13, 3))
    t:add(f.seth_cc_type, b(16, 1))
    t:add(f.seth_cc_flags, b(16, 1))
    t:add(f.seth_mpr, b(17, 1))
    t:add(f.seth_sack_offset, b(18, 2))
    t:add(f.seth_bitmap, b(20, 8))
    local is_probe_response = bit.band(b(1, 1):uint(), 0x02) ~= 0
    if not is_probe_response then
        local acked = bit.band(b(13, 3):uint() + b(2, 2):int(), 0xffffff)
        t:add(f.seth_acked, b(2, 2), acked):set_generated()
    end
end

local function cc_state(t, b)
    t:add(f.cc_timestamp, b(0, 2))
    t:add(f.cc_ooo, b(2, 2))
    t:add(f.cc_restore, b(4, 1))
    t:add(f.cc_penalty, b(4, 1))
    t:add(f.cc_rcvd, b(5, 3))
end

local function neth(t, b)
    t:add(f.neth_reason, b(2, 1))
    t:add(f.neth_vendor, b(3, 1))
    t:add(f.neth_entropy, b(4, 4))
    t:add(f.neth_src, b(8, 2))
    t:add(f.neth_dst, b(10, 2))
    t:add(f.neth_psn, b(13, 3))
    t:add(f.neth_cc_type, b(16, 1))
    t:add(f.neth_cc_flags, b(16, 1))
    t:add(f.neth_timestamp, b(18, 2))
end

local function peth(t, b)
    t:add(f.peth_vendor, b(3, 1))
    t:add(f.peth_id, b(4, 2))
    t:add(f.peth_src, b(8, 2))
    t:add(f.peth_dst, b(10, 2))
    tseth(t, b(12, 4):tvb())
end

local METH = { "METH", 4, meth }
local TSETH = { "TSETH", 4, tseth }
local RETH = { "RETH", 16, reth }
local IMMDT = { "ImmDt", 4, immdt }
local AETH = { "AETH", 4, aeth }
local SETH = { "SETH", 28, seth }
local CC_STATE = { "CC_STATE", 8, cc_state }
local NETH = { "NETH", 20, neth }
local PETH = { "PETH", 16, peth }

-- Headers behind the BTH, in order: TSETH is there if bit 0x10 of the BTH's byte 8 says so.
local function headers(opcode, has_tseth)
    if opcode == 0xd1 then return { AETH } end
    if opcode == 0xdc then return { SETH, CC_STATE } end
    if opcode == 0xdd then return { NETH } end
    if opcode == 0xde then return { PETH } end
    local list = { METH }
    if has_tseth then table.insert(list, TSETH) end
    table.insert(list, RETH)
    if opcode == 0xc9 or opcode == 0xcb then table.insert(list, IMMDT) end
    return list
end

function mrc.dissector(buffer, pinfo, tree)
    local info = bth_opcode()
    if not info or not opcodes[info.value] then return end
    local opcode = info.value
    local lengths = { udp_length() }
    if #lengths == 0 then return end
    local start = info.offset
    -- The innermost UDP header is directly before the BTH.
    local packet_end = start + lengths[#lengths].value - UDP
    if packet_end > buffer:len() or packet_end < start + BTH + ICRC then return end
    local t = tree:add(mrc, buffer(start, packet_end - start))
    t:append_text(", " .. opcodes[opcode])
    t:add(f.opcode, buffer(start, 1))
    t:add(f.rtx, buffer(start + 8, 1))
    t:add(f.tseth_present, buffer(start + 8, 1))

    local flags = buffer(start + 8, 1):uint()
    local at, last = start + BTH, packet_end - ICRC
    for _, header in ipairs(headers(opcode, bit.band(flags, 0x10) ~= 0)) do
        local name, length, dissect = header[1], header[2], header[3]
        if at + length > last then
            t:add_proto_expert_info(truncated)
            return
        end
        dissect(t:add(mrc, buffer(at, length), name), buffer(at, length):tvb())
        at = at + length
    end
    if opcode >= 0xc6 and opcode <= 0xcb then
        local pad = bit.rshift(bit.band(buffer(start + 1, 1):uint(), 0x30), 4)
        t:add(f.payload_length, last - at - pad):set_generated()
    end
    t:add(f.icrc, buffer(last, ICRC))

    pinfo.cols.protocol = "MRC"
    local psn = bth_psn()
    local text = opcodes[opcode]
    if psn then text = text .. " PSN=" .. psn.value end
    if bit.band(flags, 0x20) ~= 0 then text = text .. " RTX" end
    pinfo.cols.info = text
end

register_postdissector(mrc)
