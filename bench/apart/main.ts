// Runs the measurement named by its first argument, and prints the figures as JSON.

import { measures } from './measures.ts';

const name = process.argv[2] as keyof typeof measures;
process.stdout.write(JSON.stringify(await measures[name]()), () => process.exit()); // some of the peers keep timers
