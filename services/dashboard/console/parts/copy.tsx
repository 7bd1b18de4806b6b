import { Button, Menu } from '@mantine/core';
import { useState, type ReactElement } from 'react';
import { Icon } from './icon.tsx';

/** The time for which a button says that it has copied. */
const SHOWN_MS = 1500;

/** Copies a text, and tells for a moment that it has. Without https browsers have no clipboard, so a selection is copied instead. */
function useCopy(): { copied: boolean; copy: (text: string) => void } {
  const [copied, setCopied] = useState(false);
  const copy = (text: string): void => {
    void write(text);
  };
  const write = async (text: string): Promise<void> => {
    await writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), SHOWN_MS);
  };
  return { copied, copy };
}

async function writeText(text: string): Promise<void> {
  if (window.isSecureContext) {
    await navigator.clipboard.writeText(text);
    return;
  }
  const field = document.createElement('textarea');
  field.value = text;
  field.className = 'unseen';
  document.body.append(field);
  field.select();
  // Deprecated, but the only way on a page without https.
  document.execCommand('copy');
  field.remove();
}

interface CopyButtonProps {
  value: string;
  /** `Copy id`. */
  text?: string;
}

export function CopyButton({ value, text = 'Copy' }: CopyButtonProps): ReactElement {
  const { copied, copy } = useCopy();
  return (
    <Button size="compact-xs" variant="default" onClick={() => copy(value)}>
      {copied ? 'Copied' : text}
    </Button>
  );
}

/** An id that is copied by a click. */
export function CopyId({ id }: { id: string }): ReactElement {
  const { copied, copy } = useCopy();
  return (
    <button type="button" className="copy-id" title={`Copy ${id}`} onClick={() => copy(id)}>
      <code>{copied ? 'Copied' : id}</code>
    </button>
  );
}

interface CopyMenuProps {
  items: readonly { text: string; value: string }[];
}

/** Several forms of the same thing to copy: its id, as JSON, as curl. */
export function CopyMenu({ items }: CopyMenuProps): ReactElement {
  const { copied, copy } = useCopy();
  return (
    <Menu position="bottom-end">
      <Menu.Target>
        <Button size="xs" variant="default" leftSection={<Icon name="copy" size={14} />}>
          {copied ? 'Copied' : 'Copy'}
        </Button>
      </Menu.Target>
      <Menu.Dropdown>
        {items.map(({ text, value }) => (
          <Menu.Item key={text} onClick={() => copy(value)}>
            {text}
          </Menu.Item>
        ))}
      </Menu.Dropdown>
    </Menu>
  );
}
