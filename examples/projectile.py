"""The best angle to throw a ball through air, by gradients through its flight.

The loop ends when the ball is back on the ground, so the number of steps depends on the
angle; the last step is interpolated, which makes the distance smooth.
"""

import math

import gtape as gt

DRAG, STEP, SPEED = 0.02, 0.05, 30.0


@gt.function
def distance(angle):
    x = y = 0.0 * angle
    vx, vy = SPEED * gt.cos(angle), SPEED * gt.sin(angle)
    while True:
        speed = gt.sqrt(vx * vx + vy * vy)
        vx = vx - STEP * DRAG * speed * vx
        vy = vy - STEP * (9.81 + DRAG * speed * vy)
        if y + STEP * vy < 0.0:
            return x - y * vx / vy
        x, y = x + STEP * vx, y + STEP * vy


def main() -> None:
    angle = gt.constant(1.0, dtype="float64")
    for _ in range(15):
        angle = angle + 0.007 * gt.grad(distance)(angle)
    degrees = math.degrees(float(angle))
    print(f"{float(distance(angle)):.3f} m at {degrees:.3f} degrees")
    print(f"traces: {distance.trace_count}, for flights of any length")


if __name__ == "__main__":
    main()
