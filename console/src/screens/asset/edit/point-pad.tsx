// A picture in which people choose a point, by a click or by the arrow keys.
import type { KeyboardEvent, PointerEvent } from 'react';

/** Parts of width and height, from the top left. */
export type Point = { readonly x: number; readonly y: number };

type PadProps = {
  readonly src: string;
  readonly point: Point;
  readonly onChange: (point: Point) => void;
};

const STEP = 0.01;
const LARGE_STEP = 0.1;

const MOVES: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

export function PointPad({ src, point, onChange }: PadProps) {
  const move = (event: KeyboardEvent) => {
    const direction = MOVES[event.key];
    if (!direction || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    const step = event.shiftKey ? LARGE_STEP : STEP;
    onChange(toPoint(point.x + step * direction.x, point.y + step * direction.y));
  };
  const pick = ({ currentTarget, clientX, clientY, buttons }: PointerEvent) => {
    if (buttons !== 1) return;
    const { left, top, width, height } = currentTarget.getBoundingClientRect();
    onChange(toPoint((clientX - left) / width, (clientY - top) / height));
  };
  const start = (event: PointerEvent) => {
    event.currentTarget.setPointerCapture(event.pointerId);
    pick(event);
  };
  return (
    <div className="point-pad" onPointerDown={start} onPointerMove={pick}>
      <img src={src} alt="" draggable={false} />
      <div
        className="point-pad-mark"
        role="slider"
        tabIndex={0}
        aria-label="Focal point"
        aria-valuemin={0}
        aria-valuemax={100}
        aria-valuenow={toPercent(point.x)}
        aria-valuetext={`${toPercent(point.x)} % from the left, ${toPercent(point.y)} % from the top`}
        onKeyDown={move}
        style={{ left: `${100 * point.x}%`, top: `${100 * point.y}%` }}
      />
    </div>
  );
}

const toPercent = (part: number): number => Math.round(100 * part);

const toPoint = (x: number, y: number): Point => ({ x: toPart(x), y: toPart(y) });
const toPart = (part: number): number => Math.round(1000 * Math.min(1, Math.max(0, part))) / 1000;
