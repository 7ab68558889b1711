#include "daemon/api/page.hpp"

#include <array>

#include "page_texts.hpp"

namespace brink::api {
namespace {

struct PageFile {
    const char* path;
    const char* content_type;
    const char* content;
};

constexpr std::array<PageFile, 3> kFiles{{{"/", "text/html; charset=utf-8", kIndexHtml},
                                          {"/live.css", "text/css; charset=utf-8", kLiveCss},
                                          {"/live.js", "text/javascript; charset=utf-8", kLiveJs}}};

/// Scripts, styles and data from here only, nothing in line, no frames around it, no forms sent. The empty
/// icon keeps browsers from asking for one.
constexpr const char* kPolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src data:; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

}  // namespace

void add_page(net::Router& router) {
    for (const auto& file : kFiles) {
        router.add("GET", file.path, [file](const net::HttpRequest&) {
            net::HttpResponse response{.content_type = file.content_type};
            response.body = file.content;
            response.headers = {{"Content-Security-Policy", kPolicy},
                                {"X-Content-Type-Options", "nosniff"},
                                {"Referrer-Policy", "no-referrer"},
                                {"Cross-Origin-Opener-Policy", "same-origin"},
                                {"Cache-Control", "no-cache"}};
            return response;
        });
    }
}

std::vector<std::string> page_paths() {
    std::vector<std::string> paths;
    paths.reserve(kFiles.size());
    for (const auto& file : kFiles) paths.emplace_back(file.path);
    return paths;
}

}  // namespace brink::api
