// SPDX-License-Identifier: BSD-3-Clause
#include "cli/doctor.hpp"

#include <fmt/format.h>

#include "cli/command.hpp"
#include "cli/json.hpp"
#include "cli/text.hpp"

namespace frond::cli {
namespace {

constexpr std::uint64_t kMiB = 1 << 20;
constexpr std::uint32_t kAfXdpMtu = 3072;

using Level = Check::Level;

void judge_rights(const Facts& f, std::vector<Check>& out) {
  if (f.root && !f.cap_net_admin) {
    out.push_back({"privilege", Level::bad,
                   "root, but without CAP_NET_ADMIN: this is a container with few rights",
                   "docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN --device /dev/net/tun ..."});
  } else if (!f.cap_net_admin || !f.cap_sys_admin) {
    out.push_back(
        {"privilege", Level::bad,
         "making namespaces and interfaces needs CAP_NET_ADMIN and CAP_SYS_ADMIN",
         f.root ? "docker run --cap-add NET_ADMIN --cap-add SYS_ADMIN ..." : "sudo frond ..."});
  } else {
    out.push_back({"privilege", Level::good, "may make namespaces and interfaces", ""});
  }
  if (!f.root && f.userns_restricted) {
    out.push_back({"user namespaces", Level::hint, "forbidden here: nothing can run without root",
                   "sudo sysctl kernel.apparmor_restrict_unprivileged_userns=0 "
                   "kernel.unprivileged_userns_clone=1"});
  }
}

void judge_kernel(const Facts& f, std::vector<Check>& out) {
  if (f.tun)
    out.push_back({"/dev/net/tun", Level::bad, *f.tun,
                   "sudo modprobe tun    # in a container: --device /dev/net/tun"});
  else
    out.push_back({"/dev/net/tun", Level::good, "hosts can have interfaces", ""});
  if (f.netns) {
    out.push_back(
        {"namespaces", Level::bad, "no network namespace can be made: " + *f.netns,
         "sudo sysctl user.max_net_namespaces=1024    # in a container: --cap-add SYS_ADMIN"});
  } else {
    out.push_back({"namespaces", Level::good, "network namespaces can be made", ""});
  }
  if (!f.af_xdp) {
    out.push_back({"AF_XDP", Level::hint,
                   "not in this kernel: ports with driver af_xdp will not open",
                   "use driver: af_packet"});
  } else {
    out.push_back({"AF_XDP", Level::good, "the kernel has it", ""});
  }
}

void judge_resources(const Facts& f, std::vector<Check>& out) {
  const std::uint64_t mib = f.memory_available / kMiB;
  if (mib < 512) {
    out.push_back({"memory", Level::bad,
                   fmt::format("{} MiB are available; a small fabric takes 512", mib),
                   "free -m    # and end what takes it"});
  } else {
    out.push_back({"memory", Level::good, fmt::format("{} MiB are available", mib), ""});
  }
  if (f.cpus < 1.5) {
    out.push_back(
        {"processors", Level::hint,
         fmt::format("{:g}: hosts and switches share it, and rates will be CPU-bound", f.cpus),
         "frond sim FILE    # virtual time does not care"});
  } else {
    out.push_back({"processors", Level::good, fmt::format("{:g} may be used", f.cpus), ""});
  }
  if (f.hugepages_total == 0) {
    out.push_back(
        {"hugepages", Level::good, "none, and none are needed; benches are faster with them", ""});
  } else if (f.hugepages_free == 0) {
    out.push_back(
        {"hugepages", Level::hint,
         fmt::format("all {} are taken by somebody; frond does without", f.hugepages_total),
         "grep -l hugepages /proc/*/numa_maps    # shows who"});
  } else {
    out.push_back({"hugepages", Level::good,
                   fmt::format("{} of {} free", f.hugepages_free, f.hugepages_total), ""});
  }
  if (f.files < 4096) {
    out.push_back({"open files", Level::hint,
                   fmt::format("limited to {}: large fabrics need more", f.files),
                   "ulimit -n 65536"});
  }
  if (f.memlock < 64 * kMiB && !f.root) {
    out.push_back({"locked memory", Level::hint,
                   fmt::format("limited to {} KiB: af_xdp needs 64 MiB", f.memlock / 1024),
                   "ulimit -l unlimited"});
  }
  if (f.run_dir) {
    out.push_back({"run directory", Level::bad, *f.run_dir,
                   fmt::format("sudo install -d -m 755 {}    # or set FROND_RUN_DIR", f.run_root)});
  } else if (f.run_free < kMiB) {
    out.push_back({"run directory", Level::bad, fmt::format("{} is full", f.run_root),
                   fmt::format("df -h {}", f.run_root)});
  }
}

void judge_installation(const Facts& f, std::vector<Check>& out) {
  if (!f.fabricd) {
    out.push_back(
        {"fabricd", Level::bad, "not found beside frond", "export FROND_FABRICD=/path/to/fabricd"});
  }
  for (const std::string& driver : f.missing_drivers) {
    std::string package = driver;
    for (char& c : package) {
      if (c == '_') c = '-';
    }
    out.push_back({"driver " + driver, Level::hint,
                   "DPDK has no such driver here: its ports will not open",
                   fmt::format("sudo apt-get install '^librte-{}[0-9]+$'", package)});
  }
  if (f.management_port_taken) {
    out.push_back({"port 9339", Level::hint,
                   "somebody listens there: management over TCP needs another",
                   "ss -ltnp sport = 9339"});
  }
}

void judge_leftovers(const Facts& f, std::vector<Check>& out) {
  for (const std::string& name : f.crashed) {
    out.push_back({"leftovers", Level::bad, fmt::format("fabric '{}' has crashed", name),
                   "frond down " + name});
  }
  for (const std::string& ns : f.stray) {
    out.push_back({"leftovers", Level::hint, fmt::format("namespace {} belongs to no fabric", ns),
                   "sudo ip netns delete " + ns});
  }
  if (f.crashed.empty() && f.stray.empty()) out.push_back({"leftovers", Level::good, "none", ""});
}

void judge_interface(const Facts& f, const InterfaceFacts& i, std::vector<Check>& out) {
  const std::string name = "port " + i.name;
  if (!i.exists) {
    out.push_back({name, Level::bad, "there is no such interface",
                   i.pci ? "lspci -D | grep Ethernet" : "ip -br link"});
    return;
  }
  if (i.pci) {
    const bool user =
        i.driver == "vfio-pci" || i.driver == "igb_uio" || i.driver == "uio_pci_generic";
    if (!user) {
      out.push_back(
          {name, Level::bad,
           i.driver.empty() ? "no driver for user space is bound to it"
                            : fmt::format("the kernel's driver {} has it", i.driver),
           fmt::format("sudo modprobe vfio-pci && sudo dpdk-devbind.py -b vfio-pci {}", i.name)});
    }
    const bool by_uio = user && i.driver != "vfio-pci";
    if (!f.vfio && !by_uio)
      out.push_back({name, Level::bad, "VFIO is not there", "sudo modprobe vfio-pci"});
    if (!f.iommu && !f.vfio_noiommu && !by_uio) {
      // Debian's kernel has no unsafe mode of VFIO's.
      out.push_back({name, Level::bad, "there is no IOMMU: VFIO refuses the device",
                     fmt::format("boot with intel_iommu=on, or: sudo modprobe uio_pci_generic && "
                                 "sudo dpdk-devbind.py -b uio_pci_generic {}",
                                 i.name)});
    } else if (!f.iommu) {
      out.push_back({name, Level::hint,
                     "no IOMMU: the device can reach all memory, and is as good as root", ""});
    }
    if (f.hugepages_free == 0) {
      out.push_back({name, Level::bad, "PCI devices need hugepages and none is free",
                     "sudo sysctl vm.nr_hugepages=512"});
    }
    return;
  }
  if (i.tx_vlan_offload) {
    out.push_back(
        {name, Level::hint,
         "tx-vlan-offload is on: with af_xdp, VLAN tags of what the kernel sends are lost",
         fmt::format("sudo ethtool -K {} tx-vlan-offload off    # at the sending end", i.name)});
  }
  if (i.has_address) {
    out.push_back({name, Level::hint,
                   "it has an address: the kernel would answer beside the switch",
                   fmt::format("sudo ip address flush dev {}", i.name)});
  }
  if (i.mtu > kAfXdpMtu) {
    out.push_back(
        {name, Level::hint, fmt::format("MTU {}: af_xdp carries at most {}", i.mtu, kAfXdpMtu),
         fmt::format("sudo ip link set {} mtu {}    # or driver: af_packet", i.name, kAfXdpMtu)});
  }
  if (!i.tx_vlan_offload && !i.has_address && i.mtu <= kAfXdpMtu)
    out.push_back({name, Level::good, "can be used", ""});
}

class Doctor final : public Command {
 public:
  CLI::App* declare(CLI::App& app, Global& global) override {
    CLI::App* c =
        app.add_subcommand("doctor", "What stands between this machine and a fabric, and the cure");
    c->add_option("interfaces", interfaces_, "Interfaces or PCI addresses that a file will name")
        ->type_name("INTERFACE");
    add_json(c, global);
    c->footer("Exit status: 0 when nothing is in the way; 1 otherwise.");
    return c;
  }

  int run(Global& global) override {
    const auto checks = judge(look_at_machine(interfaces_));
    Json list = Json::array();
    unsigned bad = 0;
    for (const Check& c : checks) {
      bad += c.level == Level::bad;
      const char* level = c.level == Level::good ? "good" : c.level == Level::hint ? "hint" : "bad";
      list.push_back(
          {{"name", c.name}, {"level", level}, {"finding", c.finding}, {"cure", c.cure}});
      if (global.json) continue;
      const char* mark = c.level == Level::good ? "ok  " : c.level == Level::hint ? "hint" : "BAD ";
      fmt::print("{}\n", cut(fmt::format("{}  {:<16} {}", mark, c.name, c.finding), kWidth));
      if (!c.cure.empty()) fmt::print("{:22} cure: {}\n", "", c.cure);
    }
    if (global.json) {
      print_json({{"schema", "frond.doctor/1"}, {"bad", bad}, {"checks", std::move(list)}});
    } else {
      fmt::print("{}\n", bad == 0 ? "nothing is in the way; frond up demo starts a fabric"
                                  : plural(bad, "thing is", "things are") + " in the way");
    }
    return bad == 0 ? kDone : kFailed;
  }

 private:
  std::vector<std::string> interfaces_;
};

}  // namespace

std::vector<Check> judge(const Facts& facts) {
  std::vector<Check> out;
  judge_rights(facts, out);
  judge_kernel(facts, out);
  judge_resources(facts, out);
  judge_installation(facts, out);
  judge_leftovers(facts, out);
  for (const InterfaceFacts& i : facts.interfaces) judge_interface(facts, i, out);
  return out;
}

std::unique_ptr<Command> make_doctor() { return std::make_unique<Doctor>(); }

}  // namespace frond::cli
