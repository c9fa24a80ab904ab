//! Table writes that cannot be executed are refused with a reason, and change nothing.

use stellar_transport::rx::{
    EmttRow, MrRow, PageSize, QpMode, QpRow, TableError, TableWrite, Tables,
};

use crate::common::{self, accepted, context, lane, only, page, region, BASE_VA, MR_INDEX, RC_QP};

fn qp(index: u32, context: QpRow) -> TableWrite {
    TableWrite::Qp { index, context }
}

fn mr(index: u32, entry: MrRow) -> TableWrite {
    TableWrite::Mr { index, entry }
}

fn emtt(index: u32, entry: EmttRow) -> TableWrite {
    TableWrite::Emtt { index, entry }
}

#[test]
fn the_last_index_of_each_table_is_written_and_the_next_refused() {
    let (context, region) = (context(QpMode::Rc, 0), region(PageSize::Size4K));
    let page = page(PageSize::Size4K, 0);
    let mut tables = Tables::default();
    for write in [
        qp(Tables::QPS - 1, context),
        mr(Tables::MRS - 1, region),
        emtt(Tables::EMTT - 1, page),
    ] {
        tables.write(&write).expect("the last entry");
    }
    assert_eq!(tables.qp(Tables::QPS - 1), context);
    assert_eq!(tables.mr(Tables::MRS - 1), region);
    assert_eq!(tables.emtt(Tables::EMTT - 1), page);
    for write in [
        qp(Tables::QPS, context),
        mr(Tables::MRS, region),
        emtt(Tables::EMTT, page),
    ] {
        let error = tables.write(&write).expect_err("out of range");
        assert!(matches!(error, TableError::Index { .. }), "{error}");
    }
}

#[test]
fn management_queue_pairs_are_refused() {
    let mut tables = Tables::default();
    for index in 0..Tables::FIRST_QP {
        let error = tables.write(&qp(index, context(QpMode::Rc, 0)));
        assert_eq!(error, Err(TableError::ReservedQp(index)));
    }
}

#[test]
fn values_wider_than_their_field_are_refused_and_change_nothing() {
    let (context, region) = (context(QpMode::Rc, 0), region(PageSize::Size4K));
    let page = page(PageSize::Size4K, 0);
    let mut lane = lane(0);
    for write in [
        qp(
            RC_QP,
            QpRow {
                pd: 1 << 20,
                ..context
            },
        ),
        qp(
            RC_QP,
            QpRow {
                mtu_log2: 16,
                ..context
            },
        ),
        mr(
            MR_INDEX,
            MrRow {
                pd: 1 << 20,
                ..region
            },
        ),
        mr(
            MR_INDEX,
            MrRow {
                length: 1 << 48,
                ..region
            },
        ),
        mr(
            MR_INDEX,
            MrRow {
                first_emtt: 1 << 20,
                ..region
            },
        ),
        emtt(
            common::FIRST_EMTT,
            EmttRow {
                device: 1 << 10,
                ..page
            },
        ),
        emtt(
            common::FIRST_EMTT,
            EmttRow {
                frame: 1 << 52,
                ..page
            },
        ),
    ] {
        let error = lane.write_table(&write).expect_err("too wide");
        assert!(matches!(error, TableError::Width { .. }), "{error}");
    }
    accepted(&mut lane, &only(QpMode::Rc, 0, BASE_VA, 8));
}
