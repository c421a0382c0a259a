-- Tenants with spans.
SELECT DISTINCT tenant FROM steps ORDER BY tenant
