/** Whether a person is in a dialog, from which a page that is shown below must not take the focus. */
export function isInDialog(): boolean {
  return Boolean(document.activeElement?.closest('[aria-modal="true"]'));
}
