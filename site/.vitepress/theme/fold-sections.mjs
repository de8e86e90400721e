// On a phone a long page begins as the list of its sections, each of which opens where it is. A section that is long itself opens as the
// list of its parts.

const PHONE = '(max-width: 640px)';
/** A page or a section that is not longer than this is shown as it is. */
const LONGEST_PX = 12_000;
/** Hidden from the eye; the browser's search and links into it find it, and show it. */
const FOLDED = 'until-found';

/** The functions that show a block, one of each section or part that hides it: the outer first. */
const hiddenBy = new WeakMap();

/** Folds the sections of the page that is shown now, if it is long and the screen is narrow. */
export function foldLongPage() {
  const page = document.querySelector('.vp-doc > div');
  if (page === null || !matchMedia(PHONE).matches || page.querySelector('.unfold') !== null) return;
  if (document.documentElement.scrollHeight <= LONGEST_PX) return;
  for (const heading of page.querySelectorAll(':scope > h2')) fold(heading);
  unfoldTarget();
}

/** Opens the section with the target of the address, and its part, where they are folded, and scrolls to it. */
export function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  const block = target?.closest('.vp-doc > div > *') ?? null;
  let isOpened = false;
  for (const heading of headingsOf(block)) {
    const button = heading.querySelector('.unfold[aria-expanded=false]');
    button?.click(); // it may fold its parts now
    isOpened ||= button !== null;
  }
  // Last: VitePress scrolls in the next frame to where the target was.
  if (isOpened) requestAnimationFrame(() => requestAnimationFrame(() => target.scrollIntoView()));
}

/** Those that a block is below, or is: that of the section, then that of the part. */
function headingsOf(block) {
  const headings = [];
  for (let at = block; at !== null && headings[0]?.tagName !== 'H2'; at = at.previousElementSibling) {
    if (at.tagName === 'H2' || (at.tagName === 'H3' && headings.length === 0)) headings.unshift(at);
  }
  return headings;
}

/** @param {HTMLHeadingElement} heading of a section (`h2`) or of a part (`h3`) */
function fold(heading) {
  const blocks = blocksBelow(heading);
  const button = document.createElement('button');
  button.className = 'unfold ignore-header'; // VitePress leaves it out of the outline
  button.setAttribute('aria-label', heading.innerText.replace('\u200b', '').trim()); // that of the anchor
  const open = () => show(true);
  let isNew = heading.tagName === 'H2';
  const show = (isShown) => {
    button.setAttribute('aria-expanded', String(isShown));
    button.textContent = isShown ? 'Hide' : 'Show';
    for (const block of blocks) {
      const hiding = hiddenBy.get(block) ?? new Set();
      hiddenBy.set(block, hiding);
      if (isShown) hiding.delete(open);
      else hiding.add(open);
      if (hiding.size === 0) block.removeAttribute('hidden');
      else block.setAttribute('hidden', FOLDED);
    }
    if (isShown && isNew) foldParts(blocks);
    isNew &&= !isShown;
  };
  show(false);
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') === 'false'));
  for (const block of blocks) {
    block.addEventListener('beforematch', () => {
      for (const each of hiddenBy.get(block)) each();
    });
  }
  heading.append(button);
}

/** @param {Element[]} blocks of a section that is shown for the first time */
function foldParts(blocks) {
  const [first, last] = [blocks[0], blocks.at(-1)].map((block) => block?.getBoundingClientRect());
  if (first === undefined || last.bottom - first.top <= LONGEST_PX) return;
  for (const block of blocks) if (block.tagName === 'H3') fold(block);
}

/** The elements from a heading to the next one of its kind, or above it. */
function blocksBelow(heading) {
  const blocks = [];
  const ends = heading.tagName === 'H2' ? ['H2'] : ['H2', 'H3'];
  for (let next = heading.nextElementSibling; next !== null && !ends.includes(next.tagName); ) {
    blocks.push(next);
    next = next.nextElementSibling;
  }
  return blocks;
}
