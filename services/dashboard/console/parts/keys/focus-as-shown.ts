/** A ref for the first field of a dialog whose content is loaded after the dialog has opened, and has looked for a field to focus. */
export function focusAsShown(field: HTMLElement | null): void {
  field?.focus();
}
