// SPDX-License-Identifier: BSD-3-Clause
#include "control/config/yaml_tree.hpp"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/exceptions.h>
#include <yaml-cpp/parser.h>

#include <algorithm>
#include <sstream>

namespace frond::config::yaml {
namespace {

struct Stop {};  // an error was reported after which going on makes no sense

Mark mark_of(const YAML::Mark& m) { return {m.line + 1, m.column + 1}; }

// Length of the UTF-8 sequence at the start of text, 0 when there is none (RFC 3629).
std::size_t utf8_length(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char lead = byte(0);
  if (lead < 0x80) return 1;
  const std::size_t length = lead >= 0xc2 && lead < 0xe0   ? 2
                             : lead >= 0xe0 && lead < 0xf0 ? 3
                             : lead >= 0xf0 && lead < 0xf5 ? 4
                                                           : 0;
  if (length == 0 || text.size() < length) return 0;
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return 0;
  }
  const bool overlong = (lead == 0xe0 && byte(1) < 0xa0) || (lead == 0xf0 && byte(1) < 0x90);
  const bool surrogate = lead == 0xed && byte(1) >= 0xa0;
  const bool beyond = lead == 0xf4 && byte(1) >= 0x90;
  return overlong || surrogate || beyond ? 0 : length;
}

std::string hex(unsigned char c) {
  static constexpr char kHex[] = "0123456789abcdef";
  return {'0', 'x', kHex[c >> 4], kHex[c & 15]};
}

// Before any parser sees it: UTF-8, no control characters, no tabs as indentation.
bool check_text(std::string_view text, Diagnostics& out) {
  int line = 1;
  std::size_t start = 0;
  bool indent = true;
  for (std::size_t i = 0; i < text.size();) {
    const auto c = static_cast<unsigned char>(text[i]);
    const Mark at{line, static_cast<int>(i - start) + 1};
    const std::size_t length = utf8_length(text.substr(i));
    if (length == 0) {
      out.error(at, "not-utf8", "byte " + hex(c) + " is not UTF-8; save the file as UTF-8");
      return false;
    }
    if ((c < 0x20 && c != '\t' && c != '\n' && c != '\r') || c == 0x7f) {
      out.error(at, "control-character", "control character " + hex(c) + " in a text file");
      return false;
    }
    if (c == '\t' && indent) {
      out.error(at, "tab", "tab in the indentation; YAML takes spaces only");
      return false;
    }
    if (c != ' ') indent = false;
    i += length;
    if (c == '\n') {
      ++line;
      start = i;
      indent = true;
    }
  }
  return true;
}

class Builder : public YAML::EventHandler {
 public:
  Builder(std::string_view text, Diagnostics& out) : text_(text), out_(out) {}

  Node take() { return std::move(root_); }
  unsigned documents() const { return documents_; }

  void OnDocumentStart(const YAML::Mark& m) override {
    if (++documents_ == 2) {
      out_.error(mark_of(m), "documents", "a second document; one file describes one fabric");
      throw Stop{};
    }
  }
  void OnDocumentEnd() override {}

  void OnNull(const YAML::Mark& m, YAML::anchor_t) override {
    Node node;
    node.mark = mark_of(m);
    // The event does not tell `null` from nothing.
    for (std::string_view word : {"null", "Null", "NULL", "~"}) {
      if (m.pos >= 0 &&
          text_.substr(std::min(text_.size(), static_cast<std::size_t>(m.pos))).starts_with(word)) {
        node.text = word;
      }
    }
    add(std::move(node));
  }
  void OnAnchor(const YAML::Mark& m, const std::string& name) override {
    out_.error(mark_of(m), "anchor",
               "anchor '&" + printable(name) +
                   "': anchors and aliases are not supported; "
                   "write the value out");
    throw Stop{};
  }
  void OnAlias(const YAML::Mark& m, YAML::anchor_t) override {
    out_.error(mark_of(m), "anchor", "aliases are not supported; write the value out");
    throw Stop{};
  }
  void OnScalar(const YAML::Mark& m, const std::string& tag, YAML::anchor_t,
                const std::string& value) override {
    check_tag(m, tag);
    Node node;
    node.kind = Node::Kind::scalar;
    node.mark = mark_of(m);
    node.text = value;
    node.quoted = tag == "!";
    add(std::move(node));
  }
  void OnSequenceStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {
    check_tag(m, tag);
    open(m, Node::Kind::list);
  }
  void OnSequenceEnd() override { close(); }
  void OnMapStart(const YAML::Mark& m, const std::string& tag, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {
    check_tag(m, tag);
    open(m, Node::Kind::map);
  }
  void OnMapEnd() override {
    check_duplicates(stack_.back().node);
    close();
  }

 private:
  struct Level {
    Node node;
    bool has_key = false;  // map: the key of the value to come is known
  };

  void check_tag(const YAML::Mark& m, const std::string& tag) {
    if (tag.empty() || tag == "?" || tag == "!") return;
    out_.error(mark_of(m), "tag", "tag '" + printable(tag) + "': tags are not supported");
    throw Stop{};
  }

  void open(const YAML::Mark& m, Node::Kind kind) {
    if (stack_.size() >= kMaxDepth) {
      out_.error(mark_of(m), "depth",
                 "nested more than " + std::to_string(kMaxDepth) + " deep; no fabric needs that");
      throw Stop{};
    }
    Node node;
    node.kind = kind;
    node.mark = mark_of(m);
    if (is_key()) bad_key(node.mark);
    stack_.push_back({std::move(node), false});
  }

  void close() {
    Node node = std::move(stack_.back().node);
    stack_.pop_back();
    add(std::move(node));
  }

  bool is_key() const {
    return !stack_.empty() && stack_.back().node.kind == Node::Kind::map && !stack_.back().has_key;
  }

  [[noreturn]] void bad_key(Mark at) {
    out_.error(at, "key", "a key must be a single word");
    throw Stop{};
  }

  void add(Node node) {
    if (++nodes_ > kMaxNodes) {
      out_.error(node.mark, "size",
                 "more than " + std::to_string(kMaxNodes) + " values; no fabric needs that");
      throw Stop{};
    }
    if (stack_.empty()) {
      root_ = std::move(node);
      return;
    }
    Level& top = stack_.back();
    if (top.node.kind == Node::Kind::list) {
      top.node.items.push_back(std::move(node));
    } else if (!top.has_key) {
      if (node.kind == Node::Kind::null && node.text.empty()) bad_key(node.mark);
      if (node.kind != Node::Kind::scalar && node.kind != Node::Kind::null) bad_key(node.mark);
      top.node.entries.push_back({std::move(node.text), node.mark, {}});
      top.has_key = true;
    } else {
      top.node.entries.back().value = std::move(node);
      top.has_key = false;
    }
  }

  void check_duplicates(const Node& map) {
    std::vector<const Entry*> sorted;
    for (const Entry& e : map.entries) sorted.push_back(&e);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [](const Entry* a, const Entry* b) { return a->key < b->key; });
    for (std::size_t i = 1; i < sorted.size(); ++i) {
      if (sorted[i]->key != sorted[i - 1]->key) continue;
      out_.error(sorted[i]->mark, "duplicate-key",
                 "key '" + printable(sorted[i]->key) + "' is already in line " +
                     std::to_string(sorted[i - 1]->mark.line));
    }
  }

  std::string_view text_;
  Diagnostics& out_;
  std::vector<Level> stack_;
  Node root_;
  unsigned documents_ = 0;
  unsigned nodes_ = 0;
};

}  // namespace

const Entry* Node::find(std::string_view key) const {
  for (const Entry& e : entries) {
    if (e.key == key) return &e;
  }
  return nullptr;
}

std::optional<Node> parse(std::string_view text, Diagnostics& out) {
  if (text.size() > kMaxBytes) {
    out.error({}, "size", "larger than " + std::to_string(kMaxBytes >> 20) + " MiB");
    return std::nullopt;
  }
  if (text.starts_with("\xef\xbb\xbf")) text.remove_prefix(3);
  if (!check_text(text, out)) return std::nullopt;
  std::istringstream stream{std::string(text)};
  Builder builder(text, out);
  try {
    YAML::Parser parser(stream);
    while (parser.HandleNextDocument(builder)) {
    }
  } catch (const Stop&) {
    return std::nullopt;
  } catch (const YAML::Exception& e) {
    const Mark at = e.mark.is_null() ? Mark{} : mark_of(e.mark);
    if (e.msg.find("anchor") != std::string::npos) {
      out.error(at, "anchor", "aliases are not supported; write the value out");
    } else {
      out.error(at, "syntax", "not YAML: " + printable(e.msg));
    }
    return std::nullopt;
  }
  if (builder.documents() == 0) {
    out.error({1, 1}, "empty", "the file is empty; begin with 'version: 1'");
    return std::nullopt;
  }
  return builder.take();
}

}  // namespace frond::config::yaml
