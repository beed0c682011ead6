module tamis/peer/quamina

go 1.21

