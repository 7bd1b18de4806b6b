import type { ReactElement } from 'react';

/** SVG paths on a grid of 24. */
const SHAPES = {
  attach: 'M20 11.5l-8.3 8.3a5 5 0 0 1-7-7l8.6-8.7a3.4 3.4 0 0 1 4.8 4.8L9.6 17.4a1.7 1.7 0 0 1-2.4-2.4l7.9-7.9',
  file: 'M6 3h8l4 4v14H6zM14 3v4h4',
  chat: 'M4 5h16v11H9l-5 4z',
  check: 'M5 12.5l4.5 4.5L19 7.5',
  clock: 'M12 3a9 9 0 1 0 0 18 9 9 0 0 0 0-18M12 7v5l3.5 2',
  columns: 'M4 5h16v14H4zM10 5v14M15 5v14',
  copy: 'M9 9h11v11H9zM5 15H4V4h11v1',
  close: 'M6 6l12 12M18 6L6 18',
  expand: 'M7 10l5 5 5-5',
  edit: 'M5 19l1-4.5L16.5 4l3.5 3.5L9.5 18zM14 6.5l3.5 3.5',
  external: 'M14 4h6v6M20 4l-9 9M10 5H5v14h14v-5',
  home: 'M4 11l8-7 8 7v9h-5v-6H9v6H4z',
  list: 'M4 6h16M4 12h16M4 18h16',
  moon: 'M20 14.5A8.5 8.5 0 0 1 9.5 4 8.5 8.5 0 1 0 20 14.5z',
  play: 'M7 5l12 7-12 7z',
  plus: 'M12 5v14M5 12h14',
  pause: 'M8 5v14M16 5v14',
  search: 'M11 4a7 7 0 1 0 0 14 7 7 0 0 0 0-14M16 16l4.5 4.5',
  send: 'M12 20V5M5.5 11.5L12 5l6.5 6.5',
  stop: 'M7 7h10v10H7z',
  sun: 'M12 8a4 4 0 1 0 0 8 4 4 0 0 0 0-8M12 2v2.5M12 19.5V22M2 12h2.5M19.5 12H22M5 5l1.8 1.8M17.2 17.2L19 19M19 5l-1.8 1.8M6.8 17.2L5 19',
  system: 'M4 5h16v11H4zM9 20h6M12 16v4',
  trash: 'M4 7h16M9 7V4h6v3M6 7l1 13h10l1-13M10 11v5M14 11v5',
  down: 'M12 5v14M5.5 12.5L12 19l6.5-6.5',
} as const;

export type IconName = keyof typeof SHAPES;

/** A decorative icon; words or a label beside it carry the meaning. */
export function Icon({ name, size = 18 }: { name: IconName; size?: number }): ReactElement {
  return (
    <svg width={size} height={size} viewBox="0 0 24 24" fill="none" stroke="currentColor" strokeWidth="2" aria-hidden="true">
      <path d={SHAPES[name]} strokeLinecap="round" strokeLinejoin="round" />
    </svg>
  );
}
