import { asyncCacheDedupe } from './async-cache-dedupe.ts';
import { bentocache } from './bentocache.ts';
import { cacheManager } from './cache-manager.ts';
import { cachifiedOnMap } from './cachified.ts';
import type { Candidate } from './candidate.ts';
import { catbox } from './catbox.ts';
import { layeredLoader } from './layered-loader.ts';
import { lruCache } from './lru-cache.ts';
import { ocache } from './ocache.ts';
import { tickless } from './tickless.ts';

/** The measured candidates, tickless first. */
export const candidates: readonly Candidate[] = [
  tickless,
  lruCache,
  asyncCacheDedupe,
  layeredLoader,
  cachifiedOnMap,
  bentocache,
  cacheManager,
  ocache,
  catbox,
];
