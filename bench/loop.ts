/** Reads so many times and adds up what it got, so that no read can be optimised away. */
export type Loop = (times: number) => number | Promise<number>;

// Each loop is compiled from source of its own. One function for all would have one type feedback for all: its call
// would be megamorphic, never inlined, and a fast read would look as slow as a call.

/** A loop over a read without a promise. */
export function syncLoop(read: () => unknown): Loop {
  return compile(
    'return (times) => { let sum = 0; for (let i = 0; i < times; i++) sum += read(); return sum; }',
    read,
  );
}

/** A loop over an awaited read. */
export function awaitedLoop(read: () => unknown): Loop {
  return compile(
    'return async (times) => { let sum = 0; for (let i = 0; i < times; i++) sum += await read(); return sum; }',
    read,
  );
}

function compile(source: string, read: () => unknown): Loop {
  return new Function('read', source)(read) as Loop;
}
