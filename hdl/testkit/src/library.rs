//! Models of blocks under test.

use std::any::{type_name, TypeId};
use std::collections::HashMap;
use std::sync::{LazyLock, Mutex, OnceLock};

use hdl_verilog::emit;
use rust_hdl::core::block::Block;
use sim_models::DesignModels;
use sim_verilated::Library;

/// The Verilated model of block `B`, for all tests of this process: built, or loaded from the cache, for the first one.
///
/// # Panics
/// If the block cannot be translated or its model not be built.
pub fn library<B: Block + Default + 'static>() -> &'static Library {
    static LIBRARIES: LazyLock<Mutex<HashMap<TypeId, &'static OnceLock<Library>>>> =
        LazyLock::new(Mutex::default);
    let library = *LIBRARIES
        .lock()
        .expect("nothing panics under the lock")
        .entry(TypeId::of::<B>())
        .or_insert_with(|| Box::leak(Box::default()));
    library.get_or_init(|| library_of(*Box::<B>::default()))
}

/// The Verilated model of a block with other parameters than its default.
///
/// # Panics
/// The same as [`library`].
pub fn library_of<B: Block>(block: B) -> Library {
    let mut block = Box::new(block);
    block.connect_all();
    let name = type_name::<B>();
    let design = emit(block.as_ref()).unwrap_or_else(|e| panic!("{name} is not translated: {e}"));
    let spec = design.model().for_short_run();
    spec.build()
        .unwrap_or_else(|e| panic!("no model of {name}: {e}"))
}
