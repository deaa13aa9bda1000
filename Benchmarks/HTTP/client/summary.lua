-- SPDX-License-Identifier: Apache-2.0
--
-- Prints the results of wrk on one line for the driver. Only done() is defined, so it costs nothing while requests run.
function done(summary, latency, requests)
    local errors = summary.errors
    io.write(string.format(
        'SUMMARY {"requests": %d, "microseconds": %d, "bytes": %d, "connect": %d, "read": %d, "write": %d, '
            .. '"status": %d, "timeout": %d, "p50": %d, "p99": %d}\n',
        summary.requests, summary.duration, summary.bytes, errors.connect, errors.read, errors.write,
        errors.status, errors.timeout, latency:percentile(50), latency:percentile(99)))
end
