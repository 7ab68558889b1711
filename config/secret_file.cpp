#include <arpa/inet.h>
#include <sys/stat.h>

#include <cerrno>
#include <fstream>
#include <system_error>

#include "config/agent_config.hpp"

namespace brink {

tl::expected<std::string, Error> read_secret_file(const std::string& path) {
    auto refuse = [&](const std::string& why) {
        return tl::unexpected(Error{ErrorCode::configuration, "secret file " + path + ": " + why, {}});
    };
    struct stat info{};
    if (::stat(path.c_str(), &info) != 0) return refuse(std::generic_category().message(errno));
    if (!S_ISREG(info.st_mode)) return refuse("is not a regular file");
    if ((info.st_mode & (S_IRWXG | S_IRWXO)) != 0)
        return refuse("others may read it; run: chmod 600 " + path);
    std::ifstream in(path);
    std::string line;
    std::getline(in, line);
    while (!line.empty() && (line.back() == '\r' || line.back() == ' ')) line.pop_back();
    if (line.empty()) return refuse("its first line is empty; put the secret there");
    return line;
}

bool is_loopback(const std::string& address) {
    std::string host = address.substr(0, address.rfind(':'));
    if (host.size() > 2 && host.front() == '[' && host.back() == ']') host = host.substr(1, host.size() - 2);
    // A name may begin with 127. as well, so only a whole address of that net counts.
    in_addr v4{};
    if (::inet_pton(AF_INET, host.c_str(), &v4) == 1) return (ntohl(v4.s_addr) >> 24) == 127;
    return host == "localhost" || host == "::1";
}

}  // namespace brink
