// SPDX-License-Identifier: BSD-3-Clause
// The management socket: a Unix socket with a path, never abstract (an abstract one has no owner
// and is seen by every container that shares the network namespace).
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>

#include "base/result.hpp"

namespace frond::management {

// Listens at `path`: mode 0600, or 0660 with a group. What a dead process of ours left there is
// replaced; a socket that answers, somebody else's, or another kind of file is refused and stays.
// The directory must be ours (or root's) and not writable by others.
Result<int> listen_unix(const std::string& path, std::optional<gid_t> group);

// unlink(path), if it is still the socket that `fd` listens at.
void remove_unix(const std::string& path, int fd);

struct PeerCredentials {
  pid_t pid = 0;
  uid_t uid = 0;
  gid_t gid = 0;
};
std::optional<PeerCredentials> peer_credentials(int fd);  // SO_PEERCRED

// Is the peer one of the group, by its main or a supplementary group (SO_PEERGROUPS)?
bool peer_in_group(int fd, const PeerCredentials& peer, gid_t group);

// A connected socket. not_found: nothing is there; unavailable: nobody listens any more.
Result<int> connect_unix(const std::string& path);

}  // namespace frond::management
