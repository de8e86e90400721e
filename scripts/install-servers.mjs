// Installs what the tests with real servers need, where it is missing: see support/integration.mjs.

import { scriptArguments } from './support/arguments.mjs';
import { ETCD, installDrivers, installServers, PGBOUNCER } from './support/integration.mjs';

scriptArguments();

await installDrivers();
installServers(ETCD, PGBOUNCER);
