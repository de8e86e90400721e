/** The instances, and of each its keys and members, that a message names: `A1`, `B2[3]`, `C3.rates`. */
const NAMED = /\b([A-H]\d+)(?:\[(\w+)\]|\.(\w+))?/g;

/** Lines of the world, and of the source, that say what happens to all. */
const OF_ALL = /^\s*\d+\.\d+ {2}(world|source) /;

/**
 * The lines of the trace of a simulated world that concern a broken rule: those of the instances which the message names, of
 * the backend about them, and of the world; where it names keys or members, without the lines of others.
 *
 * @param {readonly string[]} trace a line is `<seconds>  <who> <what>`
 * @param {string} message
 * @param {number} most the last ones
 * @returns {string[]} all lines where the message names no instance
 */
export function concernedLines(trace, message, most) {
  const named = [...message.matchAll(NAMED)];
  if (named.length === 0) return trace.slice(-most);
  const instances = new Set(named.map(([, instance]) => instance));
  const parts = new Set(named.flatMap(([, , key, member]) => key ?? member ?? []));
  const isMeant = (line) => {
    const [, who = ''] = /^\s*\d+\.\d+ {2}(\S+)/.exec(line) ?? [];
    const [instance] = who.split(/[[.]/);
    const isOfInstance = instances.has(instance);
    const isAbout = who === 'backend' && [...instances].some((name) => line.includes(` of ${name}:`));
    return isOfInstance || isAbout;
  };
  const isOfOther = (line) => {
    const [, part] = /^\s*\d+\.\d+ {2}\w+(?:\[|\.)(\w+)/.exec(line) ?? /\["(\w+)"\]/.exec(line) ?? [];
    return parts.size > 0 && part !== undefined && !parts.has(part);
  };
  return trace.filter((line) => OF_ALL.test(line) || (isMeant(line) && !isOfOther(line))).slice(-most);
}
