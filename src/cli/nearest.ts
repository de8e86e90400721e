import leven from 'leven';

/** Names that a person may have meant: at most three, the nearest first. Pure. */
export function nearest(given: string, names: readonly string[]): readonly string[] {
  const wanted = given.toLowerCase();
  return names
    .map((name) => ({ name, distance: distanceOf(wanted, name.toLowerCase()) }))
    .filter(({ distance }) => distance <= Math.max(1, wanted.length / 3))
    .sort((a, b) => a.distance - b.distance)
    .slice(0, 3)
    .map(({ name }) => name);
}

/** How many characters differ; less than one where a name of more than two characters is a part of the other. */
function distanceOf(one: string, other: string): number {
  if (Math.min(one.length, other.length) > 2 && (one.includes(other) || other.includes(one))) return 0.5;
  return leven(one.slice(0, LONGEST), other.slice(0, LONGEST));
}

/** In characters. */
const LONGEST = 200;
