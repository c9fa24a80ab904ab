//! Cards by board and by file: the shape they get, and what is refused with what is allowed.

use hdl_designs::{find, Board, Profile, Shape};

fn refusal(text: &str) -> String {
    Profile::from_toml("card.toml", text)
        .unwrap_err()
        .to_string()
}

#[test]
fn a_board_or_a_shape_is_enough() {
    for board in Board::ALL {
        let by_file = Profile::from_toml("card.toml", &format!("board = \"{board}\""));
        assert_eq!(by_file.unwrap(), Profile::of(board));
        assert!(find(Profile::of(board).design()).is_ok());
    }
    let by_shape = Profile::from_toml("card.toml", "ports = 1\nwidth = 512").unwrap();
    assert_eq!((by_shape.board, by_shape.shape), (None, Shape::OnePort512));
}

#[test]
fn what_is_built_may_be_stated() {
    let text = "board = \"u55c\"\nports = 1\nwidth = 512\nqueue_pairs = 1024\nregions = 4096\ntranslations = 524288\n\
                send_window = 4096\nreceive_window = 4096\nimmediates = 256\nstash = 16384\nmac = \"cmac\"\npcie = \"pcie4c\"";
    assert_eq!(
        Profile::from_toml("card.toml", text).unwrap(),
        Profile::of(Board::U55c)
    );
    let either = "ports = 1\nwidth = 512\npcie = \"pcie4\"";
    assert_eq!(Profile::from_toml("card.toml", either).unwrap().board, None);
}

#[test]
fn a_file_chooses_the_number_of_queue_pairs() {
    let text = "board = \"v80\"\nqueue_pairs = 16384\nregions = 4096\nreceive_window = 1024";
    let card = Profile::from_toml("card.toml", text).unwrap();
    let shape = Shape::TwoPorts1024Qp16k;
    assert_eq!((card.board, card.shape), (Some(Board::V80), shape));
    assert_eq!(card.design(), "nic_16k");
    assert!(find(card.design()).is_ok());
    let by_shape = "ports = 2\nwidth = 1024\nqueue_pairs = 16384";
    let by_shape = Profile::from_toml("card.toml", by_shape).unwrap();
    assert_eq!((by_shape.board, by_shape.shape), (None, shape));
    let told = refusal("queue_pairs = 16384\nports = 2\nwidth = 1024\nreceive_window = 4096");
    assert!(
        told.contains("receive_window = 4096") && told.contains("1024"),
        "{told}"
    );
    let usual = Profile::from_toml("card.toml", "board = \"v80\"\nqueue_pairs = 1024");
    assert_eq!(usual.unwrap(), Profile::of(Board::V80));
    let most = "board = \"v80\"\nqueue_pairs = 65536\nreceive_window = 256";
    let most = Profile::from_toml("card.toml", most).unwrap();
    assert_eq!(most.shape, Shape::TwoPorts1024Qp64k);
    let told = refusal("board = \"v80\"\nqueue_pairs = 131072");
    let of_shape = "a card of 2 port(s) and 1024 bits has";
    let allowed = "1024 or 16384 or 65536";
    assert_eq!(
        told,
        format!("card.toml: queue_pairs = 131072; {of_shape} {allowed}")
    );
    let told = refusal("board = \"u55c\"\nqueue_pairs = 16384");
    assert!(told.ends_with("1 port(s) and 512 bits has 1024"), "{told}");
}

#[test]
fn a_refusal_says_what_is_allowed() {
    let told = refusal("board = \"u200\"");
    assert_eq!(
        told,
        "card.toml: there is no board \"u200\"; there are u250, u280, u55c, v80"
    );
    let told = refusal("ports = 2\nwidth = 512");
    let allowed = "there is no card of 2 ports and 512 bits; there are 1 and 512, 2 and 1024";
    assert_eq!(told, format!("card.toml: {allowed}"));
    let told = refusal("board = \"v80\"\nports = 1\nwidth = 512");
    let of_shape = "a card of 1 port(s) and 512 bits has";
    assert_eq!(
        told,
        format!("card.toml: board = \"v80\"; {of_shape} u250 or u280 or u55c")
    );
    let told = refusal("board = \"u250\"\nqueue_pairs = 64");
    assert_eq!(
        told,
        format!("card.toml: queue_pairs = 64; {of_shape} 1024")
    );
    let told = refusal("board = \"u250\"\npcie = \"pcie4c\"");
    assert_eq!(
        told,
        format!("card.toml: pcie = \"pcie4c\"; {of_shape} pcie4")
    );
    let told = refusal("ports = 1\nwidth = 512\nmac = \"dcmac\"");
    assert_eq!(told, format!("card.toml: mac = \"dcmac\"; {of_shape} cmac"));
    assert!(refusal("ports = 1").contains("name a board, or ports and width"));
    let told = refusal("bord = \"u250\"");
    assert!(
        told.contains("unknown field `bord`") && told.contains("`queue_pairs`"),
        "{told}"
    );
    assert!(refusal("ports = \"one\"").contains("invalid type"));
}
