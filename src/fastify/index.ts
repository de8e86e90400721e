// A plugin of Fastify.

export { type TicklessFastifyOptions, ticklessFastify } from './tickless-fastify.ts';
