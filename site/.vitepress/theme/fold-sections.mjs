// On a phone a long page begins as the list of its sections, each of which opens where it is.

const PHONE = '(max-width: 640px)';
/** A page that is not longer than this is shown as it is. */
const LONGEST_PX = 12_000;
/** Hidden from the eye; the browser's search and links into it find it, and show it. */
const FOLDED = 'until-found';

/** Folds the sections of the page that is shown now, if it is long and the screen is narrow. */
export function foldLongPage() {
  const page = document.querySelector('.vp-doc > div');
  if (page === null || !matchMedia(PHONE).matches || page.querySelector('.unfold') !== null) return;
  if (document.documentElement.scrollHeight <= LONGEST_PX) return;
  for (const heading of page.querySelectorAll(':scope > h2')) fold(heading);
  unfoldTarget();
}

/** Opens the section with the target of the address, where it is folded, and scrolls to it. */
export function unfoldTarget() {
  const target = document.getElementById(decodeURIComponent(location.hash.slice(1)));
  let block = target?.closest('.vp-doc > div > *') ?? null;
  while (block !== null && block.tagName !== 'H2') block = block.previousElementSibling;
  const button = block?.querySelector('.unfold[aria-expanded=false]') ?? null;
  if (button === null) return;
  button.click();
  target.scrollIntoView();
}

/** @param {HTMLHeadingElement} heading */
function fold(heading) {
  const blocks = blocksBelow(heading);
  const button = document.createElement('button');
  button.className = 'unfold ignore-header'; // VitePress leaves it out of the outline
  button.setAttribute('aria-label', heading.innerText.replace('\u200b', '').trim()); // that of the anchor
  const show = (isShown) => {
    button.setAttribute('aria-expanded', String(isShown));
    button.textContent = isShown ? 'Hide' : 'Show';
    for (const block of blocks) {
      if (isShown) block.removeAttribute('hidden');
      else block.setAttribute('hidden', FOLDED);
    }
  };
  show(false);
  button.addEventListener('click', () => show(button.getAttribute('aria-expanded') === 'false'));
  for (const block of blocks) block.addEventListener('beforematch', () => show(true));
  heading.append(button);
}

/** The elements from a heading to the next one. */
function blocksBelow(heading) {
  const blocks = [];
  for (
    let next = heading.nextElementSibling;
    next !== null && next.tagName !== 'H2';
    next = next.nextElementSibling
  ) {
    blocks.push(next);
  }
  return blocks;
}
