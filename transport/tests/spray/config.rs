//! Configurations that are refused.

use stellar_transport::spray::{Policy, Spray, SprayConfig, SprayError};
use stellar_transport::time::Ticks;

use crate::spray::common::{config, profile};

fn refused(config: SprayConfig) -> SprayError {
    Spray::new(config).expect_err("should be refused")
}

#[test]
fn a_configuration_is_refused_with_what_is_wrong() {
    for (policy, paths) in [
        (Policy::Obs, 1),
        (Policy::Obs, 0),
        (Policy::SinglePath, 0),
        (Policy::EvState, 7),
        (Policy::Obs, 10),
    ] {
        let config = SprayConfig {
            profile: profile(8, 0),
            paths,
            ..config(policy, 8)
        };
        assert_eq!(refused(config), SprayError::Paths { paths, active: 8 });
    }
    assert_eq!(
        refused(SprayConfig {
            seed: 0,
            ..config(Policy::Obs, 8)
        }),
        SprayError::ZeroSeed
    );
    let rotation = SprayError::Rotation {
        rotation: 4,
        slots: 4,
    };
    assert_eq!(
        refused(SprayConfig {
            rotation: 4,
            ..config(Policy::Obs, 8)
        }),
        rotation
    );
    assert!(rotation.to_string().ends_with("0 to 3"));
    for ticks in [0, 1 << 31] {
        let config = SprayConfig {
            probe_interval: Ticks(ticks),
            ..config(Policy::Obs, 8)
        };
        assert_eq!(refused(config), SprayError::ProbeInterval(ticks));
    }
    for ticks in [0, 1 << 14] {
        let config = SprayConfig {
            base_rtt: Ticks(ticks),
            ..config(Policy::Hopper, 8)
        };
        assert_eq!(refused(config), SprayError::BaseRtt(ticks));
    }
    for bend_after in [0, 16] {
        let config = SprayConfig {
            bend_after,
            ..config(Policy::FlowBender, 8)
        };
        assert_eq!(refused(config), SprayError::BendAfter(bend_after));
    }
}

#[test]
fn fewer_paths_than_the_profile_has_and_one_path_are_allowed() {
    let few = SprayConfig {
        profile: profile(128, 0),
        rotation: 63,
        ..config(Policy::Obs, 4)
    };
    assert!(Spray::new(few).is_ok());
    assert!(Spray::new(config(Policy::SinglePath, 1)).is_ok());
}

#[test]
fn every_policy_is_allowed() {
    for policy in Policy::ALL {
        assert_eq!(config(policy, 8).check(), Ok(()));
    }
}
