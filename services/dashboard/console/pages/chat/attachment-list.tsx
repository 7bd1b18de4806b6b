import { ActionIcon } from '@mantine/core';
import { useEffect, useRef, type ReactElement } from 'react';
import { Icon } from '../../parts/icon.tsx';
import { bytesText } from '../../parts/numbers.tsx';
import classes from './attachments.module.css';
import type { Attached } from './use-attachments.ts';

interface AttachmentListProps {
  items: readonly Attached[];
  onRemove: (key: number) => void;
}

/** The files of the message that is being written. */
export function AttachmentList({ items, onRemove }: AttachmentListProps): ReactElement | null {
  if (items.length === 0) return null;
  return (
    <ul className={classes['list']} aria-label="Files of this message">
      {items.map((item) => (
        <li key={item.key} className={classes['item']} data-state={item.state}>
          {item.file.type.startsWith('image/') ? <Preview file={item.file} /> : <Icon name="file" />}
          <span className={classes['name']}>{item.file.name}</span>
          <State item={item} />
          <ActionIcon size="sm" variant="subtle" color="gray" aria-label={`Remove ${item.file.name}`} onClick={() => onRemove(item.key)}>
            <Icon name="close" size={14} />
          </ActionIcon>
        </li>
      ))}
    </ul>
  );
}

const PERCENT = 100;

function State({ item: { file, state, part, problem } }: { item: Attached }): ReactElement {
  if (state === 'failed') {
    return (
      <span className={classes['problem']} role="alert">
        {problem}
      </span>
    );
  }
  if (state === 'ready') return <span className="faint">{bytesText(file.size)}</span>;
  const percent = Math.round(part * PERCENT);
  return (
    <span className={classes['progress']}>
      <progress max={PERCENT} value={percent} aria-label={`${file.name} is being uploaded`} />
      <span className="faint">{percent} %</span>
    </span>
  );
}

const PREVIEW_PX = 96;

/** A small picture of an image. It is drawn, because the content policy allows no address of a local file. */
function Preview({ file }: { file: File }): ReactElement {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    let isShown = true;
    const draw = async (): Promise<void> => {
      const image = await createImageBitmap(file);
      if (isShown && canvas.current !== null) drawCovering(canvas.current, image);
      image.close();
    };
    // An image that the browser cannot read keeps an empty place.
    draw().catch(() => undefined);
    return () => {
      isShown = false;
    };
  }, [file]);
  return <canvas ref={canvas} className={classes['preview']} width={PREVIEW_PX} height={PREVIEW_PX} aria-hidden="true" />;
}

/** Draws the middle of an image over the whole canvas. */
function drawCovering(canvas: HTMLCanvasElement, image: ImageBitmap): void {
  const side = Math.min(image.width, image.height);
  const [left, top] = [(image.width - side) / 2, (image.height - side) / 2];
  canvas.getContext('2d')?.drawImage(image, left, top, side, side, 0, 0, canvas.width, canvas.height);
}
