// Installs what the tests with real servers need, where it is missing: see support/integration.mjs.

import { ETCD, installDrivers, installServers, PGBOUNCER } from './support/integration.mjs';

await installDrivers();
installServers(ETCD, PGBOUNCER);
