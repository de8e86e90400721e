/** The client of ioredis, for programs outside of this folder: they would not find its package. */
export { Redis } from 'ioredis';
