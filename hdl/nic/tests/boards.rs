//! Boards by name, and the shape of the card on each.

use hdl_nic::{Board, Shape};

#[test]
fn every_board_has_a_name_of_its_own_and_the_shape_of_its_facts() {
    for board in Board::ALL {
        let facts = board.facts();
        assert_eq!(facts.name.parse(), Ok(board));
        assert_eq!(board.to_string(), facts.name);
        assert_eq!(Shape::new(facts.ports, facts.width), Ok(board.shape()));
        let bits = facts.width as u32 * facts.clock_mhz;
        assert!(
            bits >= facts.port_gbps * 1_000,
            "{board} is slower than its port"
        );
    }
}

#[test]
fn what_is_not_there_is_answered_with_what_is() {
    let error = "u200".parse::<Board>().unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no board \"u200\"; there are u250, u280, u55c, v80"
    );
    let error = Shape::new(2, 512).unwrap_err().to_string();
    assert_eq!(
        error,
        "there is no card of 2 ports and 512 bits; there are 1 and 512, 2 and 1024"
    );
}
