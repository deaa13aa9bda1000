-- SPDX-License-Identifier: Apache-2.0
-- Gatehouse
--
-- Asks Gatehouse whether a request may come in, and answers those that may not. Loaded by haproxy.cfg beside it.
-- docs/forward-auth.md explains it.

-- HAProxy 2.6 hands no arguments to a script: setenv, in haproxy.cfg before the script is loaded.
local questions = assert(os.getenv("GATEHOUSE_QUESTIONS"), "setenv GATEHOUSE_QUESTIONS is missing")
local path = assert(os.getenv("GATEHOUSE_PATH"), "setenv GATEHOUSE_PATH is missing")

-- What Gatehouse has to see of the request, and nothing else of it.
local asked = {
    "cookie", "authorization", "accept", "sec-fetch-mode", "sec-fetch-dest", "sec-fetch-site", "x-requested-with", "user-agent",
}
-- What the application is told; Gatehouse sets all of them whenever it says yes.
local told = { "remote-user", "remote-groups", "remote-realm" }
-- What the client is told if it says no.
local answered = { "location", "www-authenticate", "content-type", "cache-control", "set-cookie", "vary", "allow", "retry-after" }
-- Anything else is an answer that is not to be expected, and 503.
local statuses = {
    [302] = true, [303] = true, [400] = true, [401] = true, [403] = true, [405] = true, [414] = true, [429] = true, [431] = true,
    [503] = true,
}

local function question(txn)
    local given = txn.http:req_get_headers()
    local headers = {
        ["x-forwarded-method"] = { txn.sf:method() },
        ["x-forwarded-proto"] = { "https" },
        ["x-forwarded-host"] = { txn.sf:req_fhdr("host") },
        ["x-forwarded-uri"] = { txn.sf:pathq() },
        ["x-forwarded-for"] = { txn.sf:src() },
    }
    for _, name in ipairs(asked) do
        if given[name] then
            local values = {}
            for index = 0, #given[name] do
                if given[name][index] then values[#values + 1] = given[name][index] end
            end
            -- HTTP/2 may split cookies, and joins them again with "; " (RFC 9113, 8.2.3).
            headers[name] = name == "cookie" and { table.concat(values, "; ") } or values
        end
    end
    return headers
end

local function deny(txn, status, headers, body)
    local reply = txn:reply()
    reply:set_status(status)
    for _, name in ipairs(answered) do
        for _, value in pairs(headers and headers[name] or {}) do reply:add_header(name, value) end
    end
    if body and #body > 0 and txn.sf:method() ~= "HEAD" then reply:set_body(body) end
    txn:done(reply)
end

core.register_action("gatehouse", { "http-req" }, function(txn)
    txn:set_var("txn.gatehouse", "deny")
    local asked_well, answer = pcall(function()
        return core.httpclient():get{
            url = "http://localhost" .. path, headers = question(txn), dst = questions, timeout = 10000,
        }
    end)
    if not asked_well or not answer or not answer.status or answer.status == 0 then
        if not asked_well then core.Alert("gatehouse.lua: " .. tostring(answer)) end
        deny(txn, 503)
        return
    end
    if answer.status ~= 200 then
        deny(txn, statuses[answer.status] and answer.status or 503, answer.headers, answer.body)
        return
    end
    for _, name in ipairs(told) do
        local values = answer.headers[name]
        -- A yes that does not say who is none.
        if not values then deny(txn, 503) return end
        txn.http:req_set_header(name, values[0] or values[1] or "")
    end
    txn:set_var("txn.gatehouse", "allow")
end)

-- Trailers of a client would reach the application past every rule: HAProxy's rules see none of them, and a filter cannot take
-- them out, but see that they are there, by how HAProxy 2.6 counts them; from 3.2 on take http-drop-request-trailers instead. An
-- error in it ends the request, before the trailers are passed on, with 400.
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
    -- One byte more than the data is the mark at the end of a body in chunks.
    if all > #data + 1 then error("a request with trailers is refused") end
end

core.register_filter("gatehouse-no-trailers", no_trailers, function(made) return made end)
