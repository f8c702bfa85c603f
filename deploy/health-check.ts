// The health check of a container: exit code 0 when the process is ready for its role.
const { MEDIARY_ROLE, PORT, HEALTH_PORT } = process.env;
const url =
  MEDIARY_ROLE === 'worker'
    ? `http://127.0.0.1:${HEALTH_PORT}/readyz?for=jobs`
    : `http://127.0.0.1:${PORT}/readyz`;
const { ok } = await fetch(url, { signal: AbortSignal.timeout(5000) });
process.exitCode = ok ? 0 : 1;
