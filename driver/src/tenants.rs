//! Shares of contexts in the ports of the card.

use std::sync::Arc;

use stellar_wire::config::TenantShare;
use stellar_wire::rows::{tenant_of, ConfigSelect};

use crate::card::lock;
use crate::context::Context;
use crate::device::DeviceError;
use crate::error::Error;
use crate::limits::TENANTS;
use crate::open::{Device, Shared};

impl Device {
    /// Sets the share of a context in the ports: its weight among the contexts that have something to send, and its rate limit. The share counts from the next burst of
    /// the context on, and ends with the context. Only who has the card can set it: a guest of a virtual device has no [`Device`], and no request for it.
    ///
    /// # Errors
    /// [`Error::Share`] if the card cannot give the share, [`Error::SharedTenant`] if the context has no share of its own, [`Error::ContextOfOtherCard`],
    /// [`Error::Device`].
    pub fn set_tenant_share(&self, context: &Context, share: TenantShare) -> Result<(), Error> {
        let page = self.page_of(context)?;
        share.check()?;
        if tenant_of(page.into()) >= TENANTS {
            return Err(Error::SharedTenant { page });
        }
        let mut shares = lock(&self.0.shares);
        self.0.write_share(page, &share)?;
        shares.insert(page, share);
        Ok(())
    }

    /// Returns the share of a context that was set last, or the one that contexts begin with.
    ///
    /// # Errors
    /// [`Error::ContextOfOtherCard`].
    pub fn tenant_share(&self, context: &Context) -> Result<TenantShare, Error> {
        let page = self.page_of(context)?;
        let share = lock(&self.0.shares).get(&page).copied();
        Ok(share.unwrap_or_default())
    }

    fn page_of(&self, context: &Context) -> Result<u16, Error> {
        if Arc::ptr_eq(&self.0, &context.0.device) {
            Ok(context.page())
        } else {
            Err(Error::ContextOfOtherCard)
        }
    }
}

impl Shared {
    fn write_share(&self, page: u16, share: &TenantShare) -> Result<(), DeviceError> {
        let tenant = tenant_of(page.into());
        self.card
            .write_row(ConfigSelect::Tenant, tenant, &share.row())
    }

    /// Gives a page that has a new owner the share that contexts begin with.
    pub fn clear_share(&self, page: u16) -> Result<(), DeviceError> {
        let mut shares = lock(&self.shares);
        if shares.contains_key(&page) {
            self.write_share(page, &TenantShare::default())?;
            shares.remove(&page);
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::num::NonZeroU8;

    use stellar_wire::config::{RateLimit, MIN_BUCKET};
    use stellar_wire::rows::{Row, TenantRow};

    use super::*;
    use crate::fake::{open, FakeCard};

    fn row(function: &FakeCard, tenant: u32) -> Option<TenantRow> {
        let words = function.row(ConfigSelect::Tenant.index(), tenant)?;
        let halves = |word: &u64| [*word as u32, (word >> 32) as u32];
        let halves: Vec<u32> = words.iter().flat_map(halves).collect();
        Some(TenantRow::unpack(&halves).expect("a row that can be"))
    }

    fn share(weight: u8, bits_per_second: u64) -> TenantShare {
        TenantShare {
            weight: NonZeroU8::new(weight).unwrap(),
            limit: Some(RateLimit {
                bits_per_second,
                bucket: MIN_BUCKET,
            }),
        }
    }

    #[test]
    fn a_share_is_written_and_ends_with_its_context() {
        let function = FakeCard::new();
        let context = open(function.clone());
        let device = context.device();
        let page = context.page().into();
        assert_eq!(row(&function, page), None);
        let given = share(4, 10_000_000_000);
        device.set_tenant_share(&context, given).unwrap();
        assert_eq!(row(&function, page), Some(given.row()));
        assert_eq!(device.tenant_share(&context).unwrap(), given);

        // The page that has been free longest comes first, so the next context has another page until all are taken.
        let others: Vec<Context> = (0..TENANTS).map(|_| device.open().unwrap()).collect();
        drop(context);
        let next = device.open().unwrap();
        assert_eq!(u32::from(next.page()), page);
        assert_eq!(row(&function, page), Some(TenantShare::default().row()));
        assert_eq!(device.tenant_share(&next).unwrap(), TenantShare::default());

        let last = others.last().unwrap();
        let error = device.set_tenant_share(last, given).unwrap_err();
        assert_eq!(
            error.to_string(),
            "doorbell page 4095 has no share of its own: all pages from 4095 on have one together; close contexts, or open those with a share first"
        );
    }

    #[test]
    fn what_the_card_cannot_give_is_refused() {
        let function = FakeCard::new();
        let context = open(function.clone());
        let device = context.device();
        let error = device.set_tenant_share(&context, share(1, 1)).unwrap_err();
        assert!(matches!(error, Error::Share(_)), "{error}");
        let other = open(FakeCard::new());
        let error = device.set_tenant_share(&other, share(1, 1_000_000_000));
        assert!(matches!(error, Err(Error::ContextOfOtherCard)));
        assert!(matches!(
            device.tenant_share(&other),
            Err(Error::ContextOfOtherCard)
        ));
        assert_eq!(row(&function, context.page().into()), None);
    }
}
