# The bitstream, and the image for the flash. The user's image begins behind the golden one of the board, which stays.
proc step_image {} {
    global results
    set bitstream [file join $results openstellar.bit]
    write_bitstream -force $bitstream
    write_cfgmem -force -format mcs -size 128 -interface SPIx4 -loadbit "up 0x01002000 $bitstream" -checksum \
        -file [file join $results openstellar.mcs]
}
