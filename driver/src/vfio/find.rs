//! Directory of a function in the file system, and the reasons why it cannot be opened.

use std::fs::{self, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

use stellar_wire::host::config_space::{Function, VENDOR};
use thiserror::Error;

/// Why a function cannot be opened by VFIO.
#[derive(Debug, Error)]
pub enum VfioError {
    /// The text is not a PCI address.
    #[error("'{0}' is no PCI address; one looks like 0000:01:00.0, and `lspci -D` lists them")]
    Address(String),
    /// No PCI bus here.
    #[error(
        "{0} is missing: this system shows no PCI devices; mount sysfs, or use another back end"
    )]
    NoBus(PathBuf),
    /// The function does not exist.
    #[error("there is no PCI function {0}; `lspci -D` lists those that there are")]
    NoFunction(String),
    /// The function is bound to another driver or to none.
    #[error("{address} is driven by {driver}; bind it to vfio-pci: `driverctl set-override {address} vfio-pci`")]
    Driver {
        /// The function.
        address: String,
        /// Its driver.
        driver: String,
    },
    /// No IOMMU.
    #[error("{0} is in no IOMMU group; switch the IOMMU on (in the firmware, and intel_iommu=on or amd_iommu=on for the kernel)")]
    NoGroup(String),
    /// A device file of VFIO that cannot be opened.
    #[error("{path} cannot be opened: {error}; load vfio-pci (`modprobe vfio-pci`) and see to the right to read and write the file")]
    DeviceFile {
        /// The file.
        path: PathBuf,
        /// The reason.
        error: io::Error,
    },
    /// VFIO itself.
    #[error("{address}: {what}: {reason}")]
    Kernel {
        /// The function.
        address: String,
        /// The operation that failed.
        what: &'static str,
        /// Why it failed.
        reason: String,
    },
}

/// Whether this is domain, bus, device and function: `0000:01:00.0`.
fn is_address(text: &str) -> bool {
    let is_hex = |part: &str, length| {
        part.len() == length && part.bytes().all(|byte| byte.is_ascii_hexdigit())
    };
    let parts: Vec<&str> = text.split([':', '.']).collect();
    let [domain, bus, device, function] = parts[..] else {
        return false;
    };
    text.bytes().filter(|byte| *byte == b':').count() == 2
        && is_hex(domain, 4)
        && is_hex(bus, 2)
        && is_hex(device, 2)
        && matches!(function.as_bytes(), [b'0'..=b'7'])
}

/// A function that VFIO can open.
#[derive(Debug, PartialEq, Eq)]
pub struct Found {
    /// Its directory in sysfs.
    pub directory: PathBuf,
    /// Its IOMMU group.
    pub group: u32,
}

/// The data functions of all cards that VFIO can open.
pub fn data_functions(sys: &Path, dev: &Path) -> Vec<Found> {
    let Ok(entries) = fs::read_dir(sys.join("bus/pci/devices")) else {
        return Vec::new();
    };
    let id = |directory: &Path, name: &str| {
        let text = fs::read_to_string(directory.join(name)).ok()?;
        u16::from_str_radix(text.trim().strip_prefix("0x")?, 16).ok()
    };
    let mut found: Vec<Found> = entries
        .flatten()
        .map(|entry| entry.path())
        .filter(|at| id(at, "vendor") == Some(VENDOR))
        .filter(|at| id(at, "device") == Some(Function::Data.device()))
        .filter_map(|at| find(sys, dev, at.file_name()?.to_str()?).ok())
        .collect();
    found.sort_by(|a, b| a.directory.cmp(&b.directory));
    found
}

/// The function below `sys` (`/sys`), when everything that VFIO needs is there, below `dev` (`/dev`) too.
pub fn find(sys: &Path, dev: &Path, address: &str) -> Result<Found, VfioError> {
    if !is_address(address) {
        return Err(VfioError::Address(address.to_owned()));
    }
    let bus = sys.join("bus/pci/devices");
    if !bus.is_dir() {
        return Err(VfioError::NoBus(bus));
    }
    let function = bus.join(address);
    if !function.is_dir() {
        return Err(VfioError::NoFunction(address.to_owned()));
    }
    let name = |link: &str| {
        let target = fs::read_link(function.join(link)).ok()?;
        Some(target.file_name()?.to_string_lossy().into_owned())
    };
    let driver = name("driver").unwrap_or_else(|| "no driver".to_owned());
    if driver != "vfio-pci" {
        let address = address.to_owned();
        return Err(VfioError::Driver { address, driver });
    }
    let group = name("iommu_group").and_then(|group| group.parse().ok());
    let group: u32 = group.ok_or_else(|| VfioError::NoGroup(address.to_owned()))?;
    openable(&dev.join("vfio/vfio"))?;
    // A VFIO group can be open only once, so this checks for it without opening it.
    let path = dev.join("vfio").join(group.to_string());
    match fs::metadata(&path) {
        Ok(_) => Ok(Found {
            directory: function,
            group,
        }),
        Err(error) => Err(VfioError::DeviceFile { path, error }),
    }
}

fn openable(path: &Path) -> Result<(), VfioError> {
    let opened = OpenOptions::new().read(true).write(true).open(path);
    match opened {
        Ok(_) => Ok(()),
        Err(error) => Err(VfioError::DeviceFile {
            path: path.to_owned(),
            error,
        }),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::symlink;

    #[test]
    fn an_address_has_four_parts() {
        for good in ["0000:01:00.0", "10ff:aF:1f.7"] {
            assert!(is_address(good), "{good}");
        }
        for bad in [
            "",
            "01:00.0",
            "0000:01:00.8",
            "0000.01.00.0",
            "0000:01:00:0",
            "../0:01:00.0",
        ] {
            assert!(!is_address(bad), "{bad}");
        }
    }

    #[test]
    fn what_is_missing_is_named_one_thing_after_the_other() {
        let root = tempfile::tempdir().unwrap();
        let (sys, dev) = (root.path().join("sys"), root.path().join("dev"));
        let address = "0000:01:00.0";
        let message = || find(&sys, &dev, address).unwrap_err().to_string();
        assert!(message().contains("bus/pci/devices is missing"));
        let bus = sys.join("bus/pci/devices");
        fs::create_dir_all(&bus).unwrap();
        assert!(message().contains("no PCI function 0000:01:00.0"));
        let function = bus.join(address);
        fs::create_dir(&function).unwrap();
        assert!(message().contains("driven by no driver; bind it to vfio-pci"));
        symlink("../drivers/mlx5_core", function.join("driver")).unwrap();
        assert!(message().contains("driven by mlx5_core"));
        fs::remove_file(function.join("driver")).unwrap();
        symlink("../drivers/vfio-pci", function.join("driver")).unwrap();
        assert!(message().contains("in no IOMMU group"));
        symlink("../../kernel/iommu_groups/12", function.join("iommu_group")).unwrap();
        assert!(message().contains("dev/vfio/vfio cannot be opened"));
        fs::create_dir_all(dev.join("vfio")).unwrap();
        fs::write(dev.join("vfio/vfio"), "").unwrap();
        assert!(message().contains("dev/vfio/12 cannot be opened"));
        fs::write(dev.join("vfio/12"), "").unwrap();
        let found = find(&sys, &dev, address).unwrap();
        assert_eq!((&found.directory, found.group), (&function, 12));
        assert_eq!(data_functions(&sys, &dev), []);
        fs::write(function.join("vendor"), "0x10ee\n").unwrap();
        fs::write(function.join("device"), "0x5354\n").unwrap();
        assert_eq!(data_functions(&sys, &dev), []);
        fs::write(function.join("device"), "0x5344\n").unwrap();
        assert_eq!(data_functions(&sys, &dev), [found]);
        let odd = find(&sys, &dev, "eth0").unwrap_err().to_string();
        assert!(odd.contains("'eth0' is no PCI address"), "{odd}");
    }
}
