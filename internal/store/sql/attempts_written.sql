-- Attempts of units that a sweep has written with an outcome, whatever their
-- version: which of them are new is all that is asked.
SELECT unit, trace_id, span_id, part, call_id
FROM attempts
WHERE tenant = {tenant:String} AND unit IN {units:Array(String)} AND toString(outcome) != '' AND expires_at > now()
GROUP BY unit, trace_id, span_id, part, call_id
