import { useEffect } from 'react';

/** Gives cells whose text is cut the whole text as a title, once a pointer is on them. */
export function useCutTitles(table: HTMLElement | null): void {
  useEffect(() => {
    if (table === null) return undefined;
    const onOver = ({ target }: PointerEvent): void => {
      const cell = target instanceof Element ? target.closest('td') : null;
      // Some cells say more than their text.
      if (cell === null || cell.querySelector('[title]') !== null) return;
      if (cell.scrollWidth > cell.clientWidth) cell.title = cell.innerText;
      else cell.removeAttribute('title');
    };
    table.addEventListener('pointerover', onOver);
    return () => table.removeEventListener('pointerover', onOver);
  }, [table]);
}
