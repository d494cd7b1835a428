#![no_main]

use libfuzzer_sys::fuzz_target;

#[path = "../../capi/tests/all/driver.rs"]
mod driver;

fuzz_target!(|bytes: &[u8]| {
    driver::drive(bytes);
});
