"""undetected-chromedriver: Selenium with a changed chromedriver."""
import shutil
import subprocess

import undetected_chromedriver as uc
from selenium.webdriver.common.by import By
from selenium.webdriver.support.ui import WebDriverWait

from visit import ARGS, take_steps, visit

driver_path = f"{visit['profile']}/chromedriver"
shutil.copy("/usr/bin/chromedriver", driver_path)
version = subprocess.check_output([driver_path, "--version"], text=True).split()[1]
options = uc.ChromeOptions()
for argument in ARGS:
    options.add_argument(argument)
driver = uc.Chrome(
    options=options,
    driver_executable_path=driver_path,
    browser_executable_path=visit["chromium"],
    user_data_dir=f"{visit['profile']}/browser",
    use_subprocess=True,
    version_main=int(version.split(".")[0]),
)
try:
    find = lambda target: driver.find_element(By.CSS_SELECTOR, target)
    driver.get(visit["url"])
    take_steps(
        click=lambda target: find(target).click(),
        type=lambda target, text: find(target).send_keys(text),
        scroll=lambda by_px: driver.execute_script("window.scrollBy(0, arguments[0])", by_px),
        arrive=lambda target: WebDriverWait(driver, 20).until(lambda _: find(target)),
    )
    driver.get("about:blank")
finally:
    driver.quit()
