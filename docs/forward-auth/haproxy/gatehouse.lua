-- SPDX-License-Identifier: Apache-2.0
-- Gatehouse
--
-- Checks each request with Gatehouse, and answers the requests that are not allowed. haproxy.cfg loads this script.
-- docs/forward-auth.md explains it.

-- HAProxy 2.6 cannot pass arguments to a script, so haproxy.cfg sets these variables before it loads the script.
local checks_address = assert(os.getenv("GATEHOUSE_CHECKS"), "setenv GATEHOUSE_CHECKS is missing")
local path = assert(os.getenv("GATEHOUSE_PATH"), "setenv GATEHOUSE_PATH is missing")

-- The fields of the request that Gatehouse needs. No other field is sent.
local checked_fields = {
    "cookie", "authorization", "accept", "accept-language", "sec-fetch-mode", "sec-fetch-dest", "sec-fetch-site", "x-requested-with",
    "user-agent", "origin", "access-control-request-method",
}
-- The fields for the application. Gatehouse sets all of them if it allows a request.
local identity_fields = {
    "remote-user", "remote-groups", "remote-realm", "remote-email", "remote-name", "remote-token",
}
-- The fields of a rejection that the client gets.
local reply_fields = {
    "location", "www-authenticate", "content-type", "cache-control", "set-cookie", "vary", "allow", "retry-after", "content-security-policy",
    "x-content-type-options", "referrer-policy", "cross-origin-opener-policy", "cross-origin-resource-policy", "permissions-policy",
    "strict-transport-security",
}
-- The expected statuses of a rejection. For any other status the client gets the error page of haproxy.cfg.
local statuses = {
    [302] = true, [303] = true, [400] = true, [401] = true, [403] = true, [405] = true, [414] = true, [429] = true, [431] = true,
    [503] = true,
}

local function check_fields(txn)
    local given = txn.http:req_get_headers()
    local headers = {
        ["x-forwarded-method"] = { txn.sf:method() },
        ["x-forwarded-proto"] = { txn.f:ssl_fc() == 1 and "https" or "http" },
        ["x-forwarded-host"] = { txn.sf:req_fhdr("host") },
        ["x-forwarded-uri"] = { txn.sf:pathq() },
        ["x-forwarded-for"] = { txn.sf:src() },
    }
    for _, name in ipairs(checked_fields) do
        if given[name] then
            local values = {}
            for index = 0, #given[name] do
                if given[name][index] then values[#values + 1] = given[name][index] end
            end
            -- Cookie fields that HTTP/2 has split are joined with "; " (RFC 9113, section 8.2.3).
            headers[name] = name == "cookie" and { table.concat(values, "; ") } or values
        end
    end
    return headers
end

local function deny(txn, status, headers, body)
    local reply = txn:reply()
    reply:set_status(status)
    for _, name in ipairs(reply_fields) do
        for _, value in pairs(headers and headers[name] or {}) do reply:add_header(name, value) end
    end
    if body and #body > 0 and txn.sf:method() ~= "HEAD" then reply:set_body(body) end
    txn:done(reply)
end

core.register_action("gatehouse", { "http-req" }, function(txn)
    txn:set_var("txn.gatehouse", "deny")
    local succeeded, answer = pcall(function()
        return core.httpclient():get{
            url = "http://localhost" .. path, headers = check_fields(txn), dst = checks_address, timeout = 10000,
        }
    end)
    if not succeeded or not answer or not answer.status or answer.status == 0 then
        if not succeeded then core.Alert("gatehouse.lua: " .. tostring(answer)) end
        txn:set_var("txn.gatehouse", "unavailable")
        return
    end
    if answer.status ~= 200 then
        -- Without Gatehouse, the answer is a 503 of HAProxy, which has no Vary.
        if statuses[answer.status] and answer.headers["vary"] then
            deny(txn, answer.status, answer.headers, answer.body)
        else
            txn:set_var("txn.gatehouse", "unavailable")
        end
        return
    end
    for _, name in ipairs(identity_fields) do
        local values = answer.headers[name]
        -- An answer without one of the identity fields does not allow the request.
        if not values then txn:set_var("txn.gatehouse", "unavailable") return end
        txn.http:req_set_header(name, values[0] or values[1] or "")
    end
    txn:set_var("txn.gatehouse", "allow")
end)

-- Rejects requests with trailers, because HAProxy passes trailers on and its rules cannot see them. A filter cannot remove trailers, but
-- can detect them by the way in which HAProxy 2.6 counts bytes. An error in the filter ends the request with 400, before the trailers are
-- passed on. With HAProxy 3.2 and later, use http-drop-request-trailers instead.
local no_trailers = { id = "gatehouse-no-trailers", flags = filter.FLT_CFG_FL_HTX }
no_trailers.__index = no_trailers

function no_trailers:new() return setmetatable({}, no_trailers) end

function no_trailers:http_headers(txn, message)
    if not message.channel:is_resp() and not message:get_headers()["content-length"] then
        filter.register_data_filter(self, message.channel)
    end
end

function no_trailers:http_payload(txn, message)
    if message.channel:is_resp() then return end
    local all = message:input()
    local data = all > 0 and message:body(0, all) or ""
    -- The end of a chunked body counts as one byte in addition to the data.
    if all > #data + 1 then error("the request has trailers") end
end

core.register_filter("gatehouse-no-trailers", no_trailers, function(made) return made end)
