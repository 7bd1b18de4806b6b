import type { Plugin } from 'vite';

type Change = readonly [from: string, to: string];

/** What parts of the theme say of themselves to a screen reader, and what they should. */
const CHANGES: Readonly<Record<string, readonly Change[]>> = {
  // A dialog, whose field is the one that opens a list: a button may have neither in it.
  'VPLocalSearchBox.vue': [
    [
      `      role="button"
      :aria-owns="results?.length ? 'localsearch-list' : undefined"
      aria-expanded="true"
      aria-haspopup="listbox"
`,
      `      role="dialog"
      aria-modal="true"
`,
    ],
    [
      `            aria-autocomplete="both"
`,
      `            aria-autocomplete="both"
            role="combobox"
            :aria-expanded="results?.length ? 'true' : 'false'"
`,
    ],
    ['<kbd :aria-label=', '<kbd role="img" :aria-label='],
    // The link is the option, and what it shows is its name.
    [
      `            :id="'localsearch-item-' + index"
            :aria-selected="selectedIndex === index ? 'true' : 'false'"
            role="option"
`,
      `            role="none"
`,
    ],
    [
      `              :aria-label="[...p.titles, p.title].join(' > ')"
`,
      `              :id="'localsearch-item-' + index"
              :aria-selected="selectedIndex === index ? 'true' : 'false'"
              role="option"
`,
    ],
  ],
  // A phone's list of headings is outside of all parts of the page.
  'VPLocalNavOutlineDropdown.vue': [['ref="items" class="items"', 'ref="items" class="items" role="navigation" aria-label="Headings"']],
};

/** Mends components of the theme where axe finds what keeps people from using them. Throws when a component no longer says what is mended. */
export function nameControls(): Plugin {
  return {
    name: 'name-controls',
    enforce: 'pre',
    transform(code, id) {
      const changes = CHANGES[id.slice(id.lastIndexOf('/') + 1)];
      if (changes === undefined) return undefined;
      return changes.reduce((text, [from, to]) => {
        if (!text.includes(from)) throw new Error(`${id} does not have: ${from}`);
        return text.replaceAll(from, to);
      }, code);
    },
  };
}
