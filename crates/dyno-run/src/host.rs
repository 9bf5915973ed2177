//! The client machine, as far as it matters for the results.

use dyno_model::environment::Host;

/// Collects facts about this machine.
pub(crate) fn describe() -> Host {
    let uname = rustix::system::uname();
    let text = |part: &std::ffi::CStr| part.to_string_lossy().into_owned();
    Host {
        name: text(uname.nodename()),
        os: format!(
            "{} {} {}",
            text(uname.sysname()),
            text(uname.release()),
            text(uname.machine())
        ),
        cpu: std::fs::read_to_string("/proc/cpuinfo").ok().and_then(|info| cpu_model(&info)),
        cores: std::thread::available_parallelism().map_or(1, std::num::NonZero::get),
        open_files: dyno_net::open_files_limit(),
        kernel_stamps: dyno_net::stamps_work(),
    }
}

/// x86 calls it `model name`, others `Model`, `Hardware` or `cpu model`.
fn cpu_model(info: &str) -> Option<String> {
    let find = |wanted: &str| {
        info.lines().find_map(|line| {
            let (name, value) = line.split_once(':')?;
            let value = value.trim();
            (name.trim() == wanted && !value.is_empty()).then(|| value.to_owned())
        })
    };
    ["model name", "cpu model", "Model", "Hardware"].into_iter().find_map(find)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_model_is_found_or_absent() {
        let info = "processor\t: 0\nmodel\t\t: 85\nmodel name\t: A CPU @ 2.50GHz\n";
        assert_eq!(cpu_model(info).as_deref(), Some("A CPU @ 2.50GHz"));
        assert_eq!(cpu_model("processor : 0\nCPU part : 0xd40\n"), None);
    }

    #[test]
    fn this_machine_has_a_name_and_a_core() {
        let host = describe();
        assert!(!host.os.is_empty() && host.cores >= 1);
    }
}
