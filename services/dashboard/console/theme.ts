import { createTheme, Drawer, Modal, Popover, Tooltip } from '@mantine/core';

/** Only what components read in scripts; colours and fonts are variables in console.css. */
export const theme = createTheme({
  primaryColor: 'indigo',
  cursorType: 'pointer',
  respectReducedMotion: true,
  components: {
    // Locking the page's scrolling writes a <style> element, which the content policy refuses.
    Modal: Modal.extend({ defaultProps: { lockScroll: false, centered: true } }),
    Drawer: Drawer.extend({ defaultProps: { lockScroll: false } }),
    Popover: Popover.extend({ defaultProps: { shadow: 'md' } }),
    Tooltip: Tooltip.extend({ defaultProps: { events: { hover: true, focus: true, touch: true }, multiline: true, maw: 320 } }),
  },
});
