import type { ComponentChild, ComponentChildren } from 'preact';

/** A part of the page that scrolls by itself, also with the keys. */
export function Scroll({ label, children }: { label: string; children: ComponentChildren }): ComponentChild {
  return (
    <div class="scroll" tabIndex={0} role="region" aria-label={label}>
      {children}
    </div>
  );
}
