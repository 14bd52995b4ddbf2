"""pydoll: the DevTools protocol with typing and clicks that imitate people."""
import asyncio

from pydoll.browser import Chrome
from pydoll.browser.options import ChromiumOptions

from visit import ARGS, take_steps_async, visit


async def main():
    options = ChromiumOptions()
    options.binary_location = visit["chromium"]
    for argument in [*ARGS, f"--user-data-dir={visit['profile']}/browser"]:
        if argument != "--no-first-run":  # It adds that itself.
            options.add_argument(argument)
    async with Chrome(options=options) as browser:
        tab = await browser.start()
        await tab.go_to(visit["url"])
        find = lambda target: tab.query(target, timeout=20)

        async def click(target):
            await (await find(target)).click()

        async def type_text(target, text):
            element = await find(target)
            await element.click()
            await element.type_text(text, humanize=True)

        async def scroll(by_px):
            await tab.execute_script(f"window.scrollBy(0, {by_px})")

        await take_steps_async(click=click, type=type_text, scroll=scroll, arrive=find)
        await tab.go_to("about:blank")


asyncio.run(main())
