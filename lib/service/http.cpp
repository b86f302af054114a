#include "service/http.h"

#include "telemetry/json_writer.h"

namespace volley::service {

Response json_response(std::string body, unsigned status) {
    Response out;
    out.status = status;
    out.body = std::make_shared<const std::string>(std::move(body));
    return out;
}

Response error_response(unsigned status, std::string_view code, std::string_view message,
                        std::string_view hint, std::string_view pointer) {
    std::string body;
    telemetry::JsonWriter json(body);
    json.begin_object().key("error").begin_object();
    json.member("code", code).member("message", message).member("hint", hint).member("pointer", pointer);
    json.end_object().end_object();
    body += '\n';
    return json_response(std::move(body), status);
}

}  // namespace volley::service
