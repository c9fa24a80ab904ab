//! What a piece of a kernel becomes: code of `hdl()` and code of `connect()`.
use proc_macro2::TokenStream;
use quote::{quote, ToTokens};

/// The two halves generated from one piece of a kernel.
#[derive(Default)]
pub struct Lowered {
    /// Pushes statements onto `__statements`.
    pub hdl: TokenStream,
    /// Marks the signals driven by the piece as connected.
    pub connect: TokenStream,
}

impl Lowered {
    /// A piece that drives no signal.
    pub fn hdl(hdl: TokenStream) -> Self {
        Self {
            hdl,
            connect: TokenStream::new(),
        }
    }

    /// A piece that has the same code for the hardware and for the connections, such as a constant.
    pub fn both(code: impl ToTokens) -> Self {
        Self {
            hdl: code.to_token_stream(),
            connect: code.to_token_stream(),
        }
    }

    /// Appends the code `next`.
    pub fn then(&mut self, next: Lowered) {
        self.hdl.extend(next.hdl);
        self.connect.extend(next.connect);
    }

    /// The code that collects the statements of this piece into a `Vec` of its own.
    pub fn hdl_block(&self) -> TokenStream {
        let body = &self.hdl;
        quote!({
            let mut __block = ::std::vec::Vec::new();
            {
                let __statements = &mut __block;
                #body
            }
            __block
        })
    }
}
