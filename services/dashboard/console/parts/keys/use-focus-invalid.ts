import { useEffect, useRef, type RefObject } from 'react';

/** A ref for a form whose first invalid field is focused after each problem, because it may be out of sight. */
export function useFocusInvalid(problem: unknown): RefObject<HTMLFormElement | null> {
  const form = useRef<HTMLFormElement>(null);
  useEffect(() => {
    if (problem !== null) form.current?.querySelector<HTMLElement>(':is(input, select, textarea)[aria-invalid=true]')?.focus();
  }, [problem]);
  return form;
}
